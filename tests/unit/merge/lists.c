// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/merge/lists.h"

#include <check.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Writing */

static void put_varint(struct lists_body *to, uint64_t value)
{
    do {
        ck_assert_uint_lt(to->len, LISTS_SIZE);
        to->bytes[to->len++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value > 0);
}

static void put_number(struct lists_body *to, uint32_t number, uint64_t value)
{
    put_varint(to, number << 3);
    put_varint(to, value);
}

static void put_bytes(struct lists_body *to, uint32_t number, const void *bytes, size_t len)
{
    put_varint(to, number << 3 | 2);
    put_varint(to, len);
    ck_assert_uint_le(to->len + len, LISTS_SIZE);
    if (len > 0) {
        memcpy(to->bytes + to->len, bytes, len);
    }
    to->len += len;
}

static void put_message(struct lists_body *to, uint32_t number, const struct lists_body *message)
{
    put_bytes(to, number, message->bytes, message->len);
}

static void put_tag(struct lists_body *item, size_t place, const char *text, size_t len)
{
    struct lists_body tag = {.len = 0};
    struct lists_body value = {.len = 0};
    struct lists_body inner = {.len = 0};
    char name[24];
    put_bytes(&tag, 1, name, (size_t)snprintf(name, sizeof name, "t%zu", place));
    if (len == 1 && text[0] == '-') {
        put_number(&value, 1, 0);
    } else if (text[0] == '~') {
        put_number(&inner, 1, (uint64_t)strtoll(text + 1, NULL, 10));
        put_message(&value, 4, &inner);
    } else {
        put_bytes(&inner, 1, text, len);
        put_message(&value, 2, &inner);
    }
    put_message(&tag, 2, &value);
    put_message(item, 1, &tag);
}

/* Ends behind the '='. */
static const char *put_tags(struct lists_body *item, const char *text)
{
    for (size_t place = 0;; place++) {
        size_t len = strcspn(text, ",=");
        put_tag(item, place, text, len);
        text += len + 1;
        if (text[-1] != ',') {
            return text;
        }
    }
}

static void put_value(struct lists_body *item, const char *text, size_t len)
{
    struct lists_body value = {.len = 0};
    struct lists_body inner = {.len = 0};
    char word[64] = "";
    ck_assert_uint_lt(len, sizeof word);
    memcpy(word, text, len);
    if (strcmp(word, "-") == 0) {
        return;
    }
    if (strpbrk(word, ".n") != NULL) {
        double real = strtod(word, NULL);
        put_varint(&inner, 1 << 3 | 1);
        memcpy(inner.bytes + inner.len, &real, sizeof real);
        inner.len += sizeof real;
        put_message(&value, 5, &inner);
    } else {
        put_number(&inner, 1, (uint64_t)strtoll(word, NULL, 10));
        put_message(&value, 3, &inner);
    }
    put_message(item, 2, &value);
}

static void put_item(struct lists_body *list, const char *text, size_t len)
{
    struct lists_body item = {.len = 0};
    struct lists_body time = {.len = 0};
    const char *end = text + len;
    text = put_tags(&item, text);
    size_t value_len = strcspn(text, "@ ");
    value_len = text + value_len < end ? value_len : (size_t)(end - text);
    put_value(&item, text, value_len);
    text += value_len;
    if (text < end) {
        char *rest;
        long long milliseconds = strtoll(text + 1, &rest, 10);
        put_number(&time, 1, (uint64_t)(milliseconds / 1000));
        put_number(&time, 2, (uint64_t)(milliseconds % 1000 * 1000000));
        put_message(&item, 4, &time);
        put_number(&item, 3, *rest == '/' ? (uint64_t)strtoll(rest + 1, NULL, 10) : 0);
    }
    put_message(list, 2, &item);
}

void lists_write(const char *text, struct lists_body *body)
{
    struct lists_body list = {.len = 0};
    body->len = 0;
    while (*(text += strspn(text, " ")) != '\0') {
        size_t len = strcspn(text, " ");
        if (*text == '|') {
            put_message(body, 1, &list);
            list.len = 0;
        } else {
            put_item(&list, text, len);
        }
        text += len;
    }
    put_message(body, 1, &list);
}

void lists_feed(struct topn_batch *batch, const char *text)
{
    struct lists_body body;
    struct error err = {.code = ERROR_NONE};
    size_t items;
    lists_write(text, &body);
    ck_assert_msg(topn_batch_feed(batch, slice_of(body.bytes, body.len), &items, &err), "%s",
                  err.text);
    memset(body.bytes, 0xDB, sizeof body.bytes); /* nothing of it is used later */
}

/* Reading */

struct text {
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *to, const char *fmt, ...)
{
    va_list arguments;
    va_start(arguments, fmt);
    int len = vsnprintf(to->at, to->left, fmt, arguments);
    va_end(arguments);
    ck_assert(len >= 0 && (size_t)len < to->left);
    to->at += len;
    to->left -= (size_t)len;
}

static void add_cell(struct text *to, const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_NULL:
        add(to, "-");
        break;
    case CELL_INT:
        add(to, "%lld", (long long)cell->number.i);
        break;
    case CELL_FLOAT:
        add(to, "%.17g", cell->number.f);
        break;
    case CELL_STRING:
    case CELL_BINARY:
    case CELL_STRINGS:
    case CELL_INTS:
    case CELL_TIME:
        add(to, "%.*s", (int)cell->bytes.len, (const char *)cell->bytes.ptr);
        break;
    }
}

static void add_item(struct text *to, const struct topn_item *item)
{
    for (size_t i = 0; i < item->tag_count; i++) {
        add(to, "%s", i == 0 ? "" : ",");
        add(to, "%s", item->tags[i].value.kind == CELL_INT ? "~" : "");
        add_cell(to, &item->tags[i].value);
    }
    if (item->group != 0) {
        add(to, ":%zu", item->group);
    }
    add(to, "=");
    add_cell(to, &item->value);
}

void lists_read(struct topn *topn, char text[LISTS_SIZE])
{
    struct text to = {.at = text, .left = LISTS_SIZE};
    struct topn_item item;
    enum topn_step step;
    text[0] = '\0';
    while ((step = topn_next(topn, &item)) != TOPN_DONE) {
        if (step == TOPN_ITEM) {
            add(&to, "%s", to.at == text ? "" : " ");
            add_item(&to, &item);
        }
    }
}
