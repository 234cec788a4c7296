// SPDX-License-Identifier: Apache-2.0
#include "proto/topn_response.h"

#include "proto/response_value.h"

#include <assert.h>

#define SECOND 1000000000

/* Keys: all field numbers are below 16. */
enum {
    KEY_LIST = 0x0a,    /* TopNResponse.lists */
    KEY_TIME = 0x0a,    /* TopNList.timestamp */
    KEY_ITEM = 0x12,    /* TopNList.items */
    KEY_ENTITY = 0x0a,  /* Item.entity */
    KEY_VALUE = 0x12,   /* Item.value and Tag.value */
    KEY_NAME = 0x0a,    /* Tag.key */
    KEY_SECONDS = 0x08, /* Timestamp.seconds */
    KEY_NANOS = 0x10,   /* Timestamp.nanos */
};

void topn_response_init(struct topn_response *response, struct chain *chain, size_t limit_bytes)
{
    *response = (struct topn_response){
        .chain = chain,
        .limit_bytes = limit_bytes < INT32_MAX ? limit_bytes : INT32_MAX,
    };
}

/* Key, length, and so many bytes. */
static size_t message_size(size_t len)
{
    return 1 + pbw_varint_size(len) + len;
}

static uint8_t *begin_message(uint8_t *at, uint8_t key, size_t len)
{
    *at = key;
    return pbw_varint(at + 1, len);
}

static size_t name_size(struct slice name)
{
    return name.len == 0 ? 0 : message_size(name.len);
}

static size_t tag_size(const struct topn_tag *tag)
{
    return name_size(tag->name) + message_size(response_value_size(&tag->value));
}

static size_t item_size(const struct topn_item *item)
{
    size_t size = message_size(response_value_size(&item->value));
    for (size_t i = 0; i < item->tag_count; i++) {
        size += message_size(tag_size(&item->tags[i]));
    }
    return size;
}

static uint8_t *write_value(uint8_t *at, struct response_value_keys keys, const struct cell *value)
{
    at = begin_message(at, KEY_VALUE, response_value_size(value));
    return response_value_write(at, keys, value);
}

static uint8_t *write_tag(uint8_t *at, const struct topn_tag *tag)
{
    at = begin_message(at, KEY_ENTITY, tag_size(tag));
    if (tag->name.len > 0) {
        at = pbw_copy(begin_message(at, KEY_NAME, tag->name.len), tag->name);
    }
    return write_value(at, RESPONSE_VALUE_TAG, &tag->value);
}

static bool over_limit(const struct topn_response *response, size_t more, struct error *err)
{
    return error_set(
        err, ERROR_RESOURCE_EXHAUSTED,
        "the answer has %zu items of %zu bytes and more to come, at most %zu bytes are "
        "held for one query; ask for fewer with a lower top_n",
        response->items, response->chain->len + more, response->limit_bytes);
}

bool topn_response_item(struct topn_response *response, const struct topn_item *item,
                        struct error *err)
{
    size_t inner = item_size(item);
    size_t size = message_size(inner);
    if (response->chain->len + size > response->limit_bytes) {
        return over_limit(response, size, err);
    }
    uint8_t *start = chain_reserve(response->chain, size + PBW_SPARE);
    uint8_t *at = begin_message(start, KEY_ITEM, inner);
    for (size_t i = 0; i < item->tag_count; i++) {
        at = write_tag(at, &item->tags[i]);
    }
    at = write_value(at, RESPONSE_VALUE_FIELD, &item->value);
    assert((size_t)(at - start) == size);
    chain_commit(response->chain, size);
    response->items++;
    return true;
}

static uint8_t *write_number(uint8_t *at, uint8_t key, uint64_t value)
{
    if (value == 0) {
        return at;
    }
    *at = key;
    return pbw_varint(at + 1, value);
}

/* TopNList.timestamp */
static size_t write_time(uint8_t *start, int64_t now)
{
    int64_t nanos = now % SECOND;
    int64_t seconds = now / SECOND - (nanos < 0);
    nanos += nanos < 0 ? SECOND : 0;
    uint8_t *at = write_number(start + 2, KEY_SECONDS, (uint64_t)seconds);
    at = write_number(at, KEY_NANOS, (uint64_t)nanos);
    start[0] = KEY_TIME;
    start[1] = (uint8_t)(at - (start + 2));
    return (size_t)(at - start);
}

void topn_response_end(struct topn_response *response, int64_t now)
{
    if (response->items == 0) {
        return;
    }
    uint8_t time[32];
    uint8_t head[64];
    size_t time_len = write_time(time, now);
    uint8_t *at = begin_message(head, KEY_LIST, time_len + response->chain->len);
    at = pbw_copy(at, slice_of(time, time_len));
    chain_prepend(response->chain, slice_of(head, (size_t)(at - head)));
}
