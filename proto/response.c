// SPDX-License-Identifier: Apache-2.0
#include "proto/response.h"

#include "proto/response_layout.h"
#include "proto/response_value.h"

#include <assert.h>

#define SECOND 1000000000

/* Keys of a data point's fields and of the messages in it: all field numbers are below 16. */
enum {
    KEY_POINT = 0x0a,   /* QueryResponse.data_points */
    KEY_TIME = 0x0a,    /* DataPoint.timestamp */
    KEY_FAMILY = 0x12,  /* DataPoint.tag_families */
    KEY_FIELD = 0x1a,   /* DataPoint.fields */
    KEY_SERIES = 0x20,  /* DataPoint.sid */
    KEY_VERSION = 0x28, /* DataPoint.version */
    KEY_TAG = 0x12,     /* TagFamily.tags */
    KEY_SECONDS = 0x08, /* Timestamp.seconds */
    KEY_NANOS = 0x10,   /* Timestamp.nanos */
};

/* The parts of a data point that are not columns. */
struct head {
    uint64_t seconds;
    uint64_t nanos;
    size_t time_size; /* of the Timestamp message */
    bool has_time;
};

static inline size_t number_size(uint64_t value)
{
    return value == 0 ? 0 : 1 + pbw_varint_size(value);
}

static inline uint8_t *number_write(uint8_t *at, uint8_t key, uint64_t value)
{
    if (value == 0) {
        return at;
    }
    *at++ = key;
    return pbw_varint(at, value);
}

static inline struct head head_of(const struct row *row)
{
    int64_t seconds = row->timestamp / SECOND;
    int64_t nanos = row->timestamp % SECOND;
    if (nanos < 0) {
        nanos += SECOND;
        seconds--;
    }
    struct head head = {
        .seconds = (uint64_t)seconds, .nanos = (uint64_t)nanos, .has_time = row->has_time};
    head.time_size = number_size(head.seconds) + number_size(head.nanos);
    return head;
}

/* The size of a tag or a field behind its key: its length and what is in it. */
static inline size_t entry_inner(const struct response_column *column)
{
    return column->prefix.len + pbw_varint_size(column->value_size) + column->value_size;
}

static inline size_t measure_entry(struct response_column *column, const struct cell *cells)
{
    column->value_size = response_value_size(&cells[column->cell]);
    size_t inner = entry_inner(column);
    return 1 + pbw_varint_size(inner) + inner;
}

static size_t measure_columns(const struct response_layout *layout, const struct cell *cells)
{
    size_t size = 0;
    for (size_t i = 0; i < layout->family_count; i++) {
        struct response_family *family = &layout->families[i];
        family->size = family->prefix.len;
        for (size_t k = 0; k < family->column_count; k++) {
            family->size += measure_entry(&family->columns[k], cells);
        }
        size += 1 + pbw_varint_size(family->size) + family->size;
    }
    for (size_t i = 0; i < layout->field_count; i++) {
        size += measure_entry(&layout->fields[i], cells);
    }
    return size;
}

static inline uint8_t *write_entry(uint8_t *at, uint8_t key, const struct response_column *column,
                                   struct response_value_keys keys, const struct cell *cells)
{
    *at++ = key;
    at = pbw_varint(at, entry_inner(column));
    at = pbw_copy_short(at, column->prefix);
    at = pbw_varint(at, column->value_size);
    return response_value_write(at, keys, &cells[column->cell]);
}

static uint8_t *write_families(uint8_t *at, const struct response_layout *layout,
                               const struct cell *cells)
{
    for (size_t i = 0; i < layout->family_count; i++) {
        const struct response_family *family = &layout->families[i];
        *at++ = KEY_FAMILY;
        at = pbw_varint(at, family->size);
        at = pbw_copy_short(at, family->prefix);
        for (size_t k = 0; k < family->column_count; k++) {
            at = write_entry(at, KEY_TAG, &family->columns[k], RESPONSE_VALUE_TAG, cells);
        }
    }
    return at;
}

static uint8_t *write_fields(uint8_t *at, const struct response_layout *layout,
                             const struct cell *cells)
{
    for (size_t i = 0; i < layout->field_count; i++) {
        at = write_entry(at, KEY_FIELD, &layout->fields[i], RESPONSE_VALUE_FIELD, cells);
    }
    return at;
}

static inline uint8_t *write_time(uint8_t *at, const struct head *head)
{
    if (!head->has_time) {
        return at;
    }
    *at++ = KEY_TIME;
    *at++ = (uint8_t)head->time_size;
    at = number_write(at, KEY_SECONDS, head->seconds);
    return number_write(at, KEY_NANOS, head->nanos);
}

static bool over_limit(const struct response *response, size_t more, struct error *err)
{
    return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "the answer has %zu rows of %zu bytes and more to come, at most %zu bytes are "
                     "held for one query; ask for a narrower time range, fewer tags, or a lower "
                     "limit",
                     response->rows, response->chain->len + more, response->limit_bytes);
}

/* Only fields can be floats: a node that sends a float tag sends what the API has no place for. */
static bool check_tags(const struct response_layout *layout, const struct row *row,
                       struct error *err)
{
    for (size_t i = 0; i < layout->family_count; i++) {
        const struct response_family *family = &layout->families[i];
        for (size_t k = 0; k < family->column_count; k++) {
            if (row->cells[family->columns[k].cell].kind == CELL_FLOAT) {
                return error_set(err, ERROR_DATA_LOSS,
                                 "tag column %zu holds a float64, which no tag can be",
                                 family->columns[k].cell);
            }
        }
    }
    return true;
}

static bool begin(struct sink *sink, const struct layout *layout, struct error *err)
{
    (void)err;
    struct response *response = (struct response *)sink;
    response->layout = response_layout_new(layout, response->arena);
    return true;
}

static bool row(struct sink *sink, const struct row *row, struct error *err)
{
    struct response *response = (struct response *)sink;
    const struct response_layout *layout = response->layout;
    if (!check_tags(layout, row, err)) {
        return false;
    }
    const struct head head = head_of(row);
    size_t inner = measure_columns(layout, row->cells) + number_size(row->series) +
                   number_size((uint64_t)row->version) + (row->has_time ? 2 + head.time_size : 0);
    size_t size = 1 + pbw_varint_size(inner) + inner;
    if (response->chain->len + size > response->limit_bytes) {
        return over_limit(response, size, err);
    }
    uint8_t *start = chain_reserve(response->chain, size + PBW_SPARE);
    start[0] = KEY_POINT;
    uint8_t *at = pbw_varint(start + 1, inner);
    at = write_time(at, &head);
    at = write_families(at, layout, row->cells);
    at = write_fields(at, layout, row->cells);
    at = number_write(at, KEY_SERIES, row->series);
    at = number_write(at, KEY_VERSION, (uint64_t)row->version);
    assert((size_t)(at - start) == size);
    chain_commit(response->chain, size);
    response->rows++;
    return true;
}

/* Protobuf messages end at 2 GiB. */
void response_init(struct response *response, struct chain *chain, size_t limit_bytes,
                   struct arena *arena)
{
    *response = (struct response){
        .sink = {.begin = begin, .row = row},
        .chain = chain,
        .limit_bytes = limit_bytes < INT32_MAX ? limit_bytes : INT32_MAX,
        .arena = arena,
    };
}

static void append_status(struct chain *chain, struct slice group, int32_t status)
{
    size_t entry = pbw_bytes_size(1, group.len) + 1 + pbw_varint_size((uint64_t)status);
    size_t size = pbw_bytes_size(50, entry);
    uint8_t *start = chain_reserve(chain, size);
    uint8_t *at = pbw_key(start, 50, PBW_BYTES);
    at = pbw_varint(at, entry);
    at = pbw_bytes(at, 1, group);
    at = pbw_key(at, 2, PBW_VARINT);
    at = pbw_varint(at, (uint64_t)status);
    chain_commit(chain, (size_t)(at - start));
}

void response_statuses(struct response *response, const struct request *request)
{
    for (size_t i = 0; i < request->group_count; i++) {
        const struct request_group *group = &request->groups[i];
        if (group->gated) {
            append_status(response->chain, group->name, group->status);
        }
    }
}

void response_trace(struct response *response, struct slice trace)
{
    size_t size = pbw_bytes_size(2, trace.len);
    uint8_t *at = chain_reserve(response->chain, size);
    pbw_bytes(at, 2, trace);
    chain_commit(response->chain, size);
}
