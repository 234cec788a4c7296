// SPDX-License-Identifier: Apache-2.0
/*
 * TagValue and FieldValue are read by a table: each known field has a shape. A message that does
 * not fit its shape is shown as bytes, marked as malformed; that is known only at its end, so its
 * text goes to memory first.
 */
#include "liaison/dump_text.h"

#include "frame/wire.h"

#include <ctype.h>
#include <inttypes.h>
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

void dump_text_plain(struct slice bytes, FILE *out)
{
    while (bytes.len > 0) {
        size_t len = dump_text_character(bytes);
        if (len > 1 || (len == 1 && isprint(bytes.ptr[0]))) {
            fwrite(bytes.ptr, 1, len, out);
        } else {
            len = 1;
            fprintf(out, "\\x%02x", bytes.ptr[0]);
        }
        bytes = slice_of(bytes.ptr + len, bytes.len - len);
    }
}

static void print_quoted(struct slice bytes, FILE *out)
{
    fputc('"', out);
    dump_text_plain(bytes, out);
    fputc('"', out);
}

static void print_hex(struct slice bytes, FILE *out)
{
    fputs("0x", out);
    for (size_t i = 0; i < bytes.len; i++) {
        fprintf(out, "%02x", bytes.ptr[i]);
    }
}

static double float_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool print_packed(struct slice bytes, const char **comma, FILE *out)
{
    struct wire wire = wire_of(bytes);
    uint64_t value;
    while (wire_left(&wire) > 0) {
        if (!wire_uvarint(&wire, &value)) {
            return false;
        }
        fprintf(out, "%s%" PRId64, *comma, (int64_t)value);
        *comma = ", ";
    }
    return true;
}

static bool print_element(enum shape shape, const struct wire_field *field, const char **comma,
                          FILE *out)
{
    if (shape == SHAPE_INTS && field->type == WIRE_BYTES) {
        return print_packed(field->bytes, comma, out);
    }
    fputs(*comma, out);
    *comma = ", ";
    if (shape == SHAPE_INTS) {
        fprintf(out, "%" PRId64, (int64_t)field->value);
        return field->type == WIRE_VARINT;
    }
    print_quoted(field->bytes, out);
    return field->type == WIRE_BYTES;
}

static bool print_list(enum shape shape, struct slice message, FILE *out)
{
    struct wire wire = wire_of(message);
    struct wire_field field;
    enum wire_result result;
    const char *comma = "";
    fputc('[', out);
    while ((result = wire_next(&wire, &field)) == WIRE_FIELD) {
        if (field.number == 1 && !print_element(shape, &field, &comma, out)) {
            return false;
        }
    }
    fputc(']', out);
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

static bool print_message(enum shape shape, struct slice message, FILE *out)
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
        print_quoted(first->bytes, out);
    } else if (shape == SHAPE_FLOAT) {
        fprintf(out, "%.17g", float_of(first->value));
    } else if (shape == SHAPE_TIMESTAMP) {
        fprintf(out, "%" PRId64 "s+%" PRId64 "ns", (int64_t)first->value,
                (int64_t)pair.fields[2].value);
    } else {
        fprintf(out, "%" PRId64, (int64_t)first->value);
    }
    return true;
}

static bool print_variant(enum shape shape, const struct wire_field *field, FILE *out)
{
    if (field->type != (shape == SHAPE_NULL ? WIRE_VARINT : WIRE_BYTES)) {
        return false;
    }
    switch (shape) {
    case SHAPE_UNKNOWN:
        return false;
    case SHAPE_NULL:
        fputs("{null}", out);
        return true;
    case SHAPE_BYTES:
        print_hex(field->bytes, out);
        return true;
    case SHAPE_TEXTS:
    case SHAPE_INTS:
        return print_list(shape, field->bytes, out);
    case SHAPE_TEXT:
    case SHAPE_INT:
    case SHAPE_FLOAT:
    case SHAPE_TIMESTAMP:
        return print_message(shape, field->bytes, out);
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

/* Of several variants the last one counts. False: malformed, and part of it may be printed. */
static bool print_value(bool tag, struct slice cell, FILE *out)
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
        fputs("{}", out);
        return true;
    }
    return print_variant(shape_of(tag, last.number), &last, out);
}

static void print_cell_message(bool tag, struct slice cell, FILE *out)
{
    char *text = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&text, &len);
    if (memory == NULL) {
        abort();
    }
    bool good = print_value(tag, cell, memory);
    fclose(memory);
    if (good) {
        fwrite(text, 1, len, out);
    } else {
        fputs("malformed ", out);
        print_hex(cell, out);
    }
    free(text);
}

void dump_text_cell(const struct column *column, size_t row, FILE *out)
{
    if (column_is_null(column, row)) {
        fputs("null", out);
        return;
    }
    switch (column->type) {
    case COLUMN_INT64:
        fprintf(out, "%" PRId64, column_int(column, row));
        return;
    case COLUMN_FLOAT64:
        fprintf(out, "%.17g", column_float(column, row));
        return;
    case COLUMN_STRING:
        print_quoted(column_bytes(column, row), out);
        return;
    case COLUMN_BYTES:
        print_hex(column_bytes(column, row), out);
        return;
    case COLUMN_TAG_VALUE:
    case COLUMN_FIELD_VALUE:
        print_cell_message(column->type == COLUMN_TAG_VALUE, column_bytes(column, row), out);
        return;
    }
}
