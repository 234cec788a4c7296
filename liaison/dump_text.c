// SPDX-License-Identifier: Apache-2.0
/*
 * TagValue and FieldValue are read by a table: each known field has a shape. That a message does
 * not fit its shape is known only at its end; its text is taken back then.
 */
#include "liaison/dump_text.h"

#include "frame/wire.h"
#include "liaison/own.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* What a variant's field holds. */
enum shape {
    SHAPE_UNKNOWN,
    SHAPE_NULL,      /* varint */
    SHAPE_BYTES,     /* bytes */
    SHAPE_TEXT,      /* message {1 string} */
    SHAPE_TEXTS,     /* message {1 repeated string} */
    SHAPE_INT,       /* message {1 int64} */
    SHAPE_INTS,      /* message {1 repeated int64, packed or not} */
    SHAPE_FLOAT,     /* message {1 double} */
    SHAPE_TIMESTAMP, /* message {1 seconds, 2 nanos} */
};

static const enum shape tag_value[] = {
    [1] = SHAPE_NULL, [2] = SHAPE_TEXT,  [3] = SHAPE_TEXTS,     [4] = SHAPE_INT,
    [5] = SHAPE_INTS, [6] = SHAPE_BYTES, [7] = SHAPE_TIMESTAMP,
};
static const enum shape field_value[] = {
    [1] = SHAPE_NULL, [2] = SHAPE_TEXT, [3] = SHAPE_INT, [4] = SHAPE_BYTES, [5] = SHAPE_FLOAT,
};

void dump_text_fini(struct dump_text *text)
{
    free(text->ptr);
    *text = (struct dump_text){0};
}

static void append(struct dump_text *text, const void *bytes, size_t len)
{
    if (text->len + len > text->capacity) {
        text->capacity = 2 * (text->len + len) + 256;
        text->ptr = own_grow(text->ptr, text->capacity, 1);
    }
    if (len > 0) {
        memcpy(text->ptr + text->len, bytes, len);
        text->len += len;
    }
}

/* For numbers and fixed words; bytes of any length have functions of their own. */
void dump_text_put(struct dump_text *text, const char *fmt, ...)
{
    char buf[400];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(buf, sizeof buf, fmt, args); /* NOLINT(clang-analyzer-valist.*) */
    va_end(args);
    if (len > 0) {
        append(text, buf, (size_t)len < sizeof buf ? (size_t)len : sizeof buf - 1);
    }
}

/* Up to four bytes as protobuf and JSON readers demand them: no surrogates, shortest form. */
size_t dump_text_character(struct slice bytes)
{
    if (bytes.len == 0) {
        return 0;
    }
    uint32_t code = bytes.ptr[0];
    size_t len = code < 0x80 ? 1 : code < 0xC2 ? 0 : code < 0xE0 ? 2 : code < 0xF0 ? 3 : 4;
    if (code > 0xF4 || len > bytes.len) {
        return 0;
    }
    code &= len == 1 ? 0x7Fu : 0xFFu >> (len + 1);
    for (size_t i = 1; i < len; i++) {
        if ((bytes.ptr[i] & 0xC0) != 0x80) {
            return 0;
        }
        code = code << 6 | (bytes.ptr[i] & 0x3F);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool surrogate = code >= 0xD800 && code < 0xE000;
    return code >= least[len] && code < 0x110000 && !surrogate ? len : 0;
}

void dump_text_plain(struct dump_text *text, struct slice bytes)
{
    while (bytes.len > 0) {
        size_t len = dump_text_character(bytes);
        if (len > 1 || (len == 1 && isprint(bytes.ptr[0]))) {
            append(text, bytes.ptr, len);
        } else {
            len = 1;
            dump_text_put(text, "\\x%02x", bytes.ptr[0]);
        }
        bytes = slice_of(bytes.ptr + len, bytes.len - len);
    }
}

size_t dump_text_characters(const struct dump_text *text, size_t from)
{
    size_t characters = 0;
    for (size_t i = from; i < text->len; i++) {
        characters += ((unsigned char)text->ptr[i] & 0xC0) != 0x80;
    }
    return characters;
}

static void put_quoted(struct dump_text *text, struct slice bytes)
{
    dump_text_put(text, "\"");
    dump_text_plain(text, bytes);
    dump_text_put(text, "\"");
}

static void put_hex(struct dump_text *text, struct slice bytes)
{
    dump_text_put(text, "0x");
    for (size_t i = 0; i < bytes.len; i++) {
        dump_text_put(text, "%02x", bytes.ptr[i]);
    }
}

static double float_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool put_packed(struct dump_text *text, struct slice bytes, const char **comma)
{
    struct wire wire = wire_of(bytes);
    uint64_t value;
    while (wire_left(&wire) > 0) {
        if (!wire_uvarint(&wire, &value)) {
            return false;
        }
        dump_text_put(text, "%s%" PRId64, *comma, (int64_t)value);
        *comma = ", ";
    }
    return true;
}

static bool put_element(struct dump_text *text, enum shape shape, const struct wire_field *field,
                        const char **comma)
{
    if (shape == SHAPE_INTS && field->type == WIRE_BYTES) {
        return put_packed(text, field->bytes, comma);
    }
    dump_text_put(text, "%s", *comma);
    *comma = ", ";
    if (shape == SHAPE_INTS) {
        dump_text_put(text, "%" PRId64, (int64_t)field->value);
        return field->type == WIRE_VARINT;
    }
    put_quoted(text, field->bytes);
    return field->type == WIRE_BYTES;
}

static bool put_list(struct dump_text *text, enum shape shape, struct slice message)
{
    struct wire wire = wire_of(message);
    struct wire_field field;
    enum wire_result result;
    const char *comma = "";
    dump_text_put(text, "[");
    while ((result = wire_next(&wire, &field)) == WIRE_FIELD) {
        if (field.number == 1 && !put_element(text, shape, &field, &comma)) {
            return false;
        }
    }
    dump_text_put(text, "]");
    return result == WIRE_END;
}

/* Fields 1 and 2 of a small message, of the wire type that the shape wants. */
struct pair {
    struct wire_field fields[3];
};

static bool read_pair(struct slice message, enum wire_type type, struct pair *pair)
{
    *pair = (struct pair){0};
    struct wire wire = wire_of(message);
    struct wire_field field;
    enum wire_result result;
    while ((result = wire_next(&wire, &field)) == WIRE_FIELD) {
        if (field.number > 2) {
            continue;
        }
        if (field.type != type) {
            return false;
        }
        pair->fields[field.number] = field;
    }
    return result == WIRE_END;
}

static bool put_message(struct dump_text *text, enum shape shape, struct slice message)
{
    enum wire_type type = shape == SHAPE_TEXT    ? WIRE_BYTES
                          : shape == SHAPE_FLOAT ? WIRE_FIXED64
                                                 : WIRE_VARINT;
    struct pair pair;
    if (!read_pair(message, type, &pair)) {
        return false;
    }
    const struct wire_field *first = &pair.fields[1];
    if (shape == SHAPE_TEXT) {
        put_quoted(text, first->bytes);
    } else if (shape == SHAPE_FLOAT) {
        dump_text_put(text, "%.17g", float_of(first->value));
    } else if (shape == SHAPE_TIMESTAMP) {
        dump_text_put(text, "%" PRId64 "s+%" PRId64 "ns", (int64_t)first->value,
                      (int64_t)pair.fields[2].value);
    } else {
        dump_text_put(text, "%" PRId64, (int64_t)first->value);
    }
    return true;
}

static bool put_variant(struct dump_text *text, enum shape shape, const struct wire_field *field)
{
    if (field->type != (shape == SHAPE_NULL ? WIRE_VARINT : WIRE_BYTES)) {
        return false;
    }
    switch (shape) {
    case SHAPE_UNKNOWN:
        return false;
    case SHAPE_NULL:
        dump_text_put(text, "{null}");
        return true;
    case SHAPE_BYTES:
        put_hex(text, field->bytes);
        return true;
    case SHAPE_TEXTS:
    case SHAPE_INTS:
        return put_list(text, shape, field->bytes);
    case SHAPE_TEXT:
    case SHAPE_INT:
    case SHAPE_FLOAT:
    case SHAPE_TIMESTAMP:
        return put_message(text, shape, field->bytes);
    }
    return false;
}

static enum shape shape_of(bool tag, uint32_t number)
{
    const enum shape *shapes = tag ? tag_value : field_value;
    size_t count =
        tag ? sizeof tag_value / sizeof *tag_value : sizeof field_value / sizeof *field_value;
    return number < count ? shapes[number] : SHAPE_UNKNOWN;
}

/* Of several variants the last one counts. False: malformed, and part of it may be there. */
static bool put_value(struct dump_text *text, bool tag, struct slice cell)
{
    struct wire wire = wire_of(cell);
    struct wire_field field;
    struct wire_field last = {0};
    enum wire_result result;
    while ((result = wire_next(&wire, &field)) == WIRE_FIELD) {
        if (shape_of(tag, field.number) != SHAPE_UNKNOWN) {
            last = field;
        }
    }
    if (result == WIRE_BROKEN) {
        return false;
    }
    if (last.number == 0) {
        dump_text_put(text, "{}");
        return true;
    }
    return put_variant(text, shape_of(tag, last.number), &last);
}

static void put_cell_message(struct dump_text *text, bool tag, struct slice cell)
{
    size_t mark = text->len;
    if (!put_value(text, tag, cell)) {
        text->len = mark;
        dump_text_put(text, "malformed ");
        put_hex(text, cell);
    }
}

void dump_text_cell(struct dump_text *text, const struct column *column, size_t row)
{
    if (column_is_null(column, row)) {
        dump_text_put(text, "null");
        return;
    }
    switch (column->type) {
    case COLUMN_INT64:
        dump_text_put(text, "%" PRId64, column_int(column, row));
        return;
    case COLUMN_FLOAT64:
        dump_text_put(text, "%.17g", column_float(column, row));
        return;
    case COLUMN_STRING:
        put_quoted(text, column_bytes(column, row));
        return;
    case COLUMN_BYTES:
        put_hex(text, column_bytes(column, row));
        return;
    case COLUMN_TAG_VALUE:
    case COLUMN_FIELD_VALUE:
        put_cell_message(text, column->type == COLUMN_TAG_VALUE, column_bytes(column, row));
        return;
    }
}
