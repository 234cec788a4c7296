// SPDX-License-Identifier: Apache-2.0
/*
 * Wire version 3, as BanyanDB 0.11 data nodes send it. Read only when the operator asks for it.
 *
 *     frame    magic 00 56 46 52 · version · uvarint rows · uvarint columns
 *     column   role · type · uvarint length, name · uvarint length, family
 *              null bitmap: 1 bit a row, 1 = NULL
 *              numbers: 8 bytes a row, at any alignment; else per row: uvarint length, bytes
 *
 * The lengths lie between the strings, so tables of starts and ends are built in the room; the
 * bitmap is turned round there, since a view's bits mean "valid".
 */
#include "frame/decode_layout.h"

#include <stdalign.h>

#define FRAME_MIN  7
#define COLUMN_MIN 4 /* role, type, two empty names */

struct reader {
    struct wire wire;
    const struct room *room;
    size_t rows;
};

/* Encoders write the shortest form; a longer one would give the same frame two spellings. */
static bool take_uvarint(struct wire *wire, const char *what, uint64_t *value_out,
                         struct error *err)
{
    const uint8_t *start = wire->at;
    if (!wire_uvarint(wire, value_out)) {
        error_set(err, ERROR_DATA_LOSS, "%s: no uvarint of at most 64 bits found in %zu bytes left",
                  what, wire_left(wire));
        return false;
    }
    if (wire->at - start > 1 && wire->at[-1] == 0) {
        error_set(err, ERROR_DATA_LOSS, "%s: %llu found in %zu bytes, fewer expected", what,
                  (unsigned long long)*value_out, (size_t)(wire->at - start));
        return false;
    }
    return true;
}

static bool take_bytes(struct wire *wire, size_t len, const char *what, struct slice *bytes_out,
                       struct error *err)
{
    if (!wire_take(wire, len, bytes_out)) {
        error_set(err, ERROR_DATA_LOSS, "%s: %zu bytes found, %zu expected", what, wire_left(wire),
                  len);
        return false;
    }
    return true;
}

static bool take_string(struct wire *wire, const char *what, struct slice *bytes_out,
                        struct error *err)
{
    uint64_t len;
    return take_uvarint(wire, what, &len, err) &&
           take_bytes(wire, (size_t)len, what, bytes_out, err);
}

static bool read_head(struct reader *reader, struct column *column, struct error *err)
{
    uint8_t role;
    uint8_t type;
    if (!wire_u8(&reader->wire, &role) || !wire_u8(&reader->wire, &type)) {
        return error_set(err, ERROR_DATA_LOSS,
                         "role and type expected, the end of the frame found");
    }
    return take_string(&reader->wire, "name", &column->name, err) &&
           take_string(&reader->wire, "family", &column->family, err) &&
           decode_kind(column, role, type, err);
}

/* The bitmap's complement, with its spare bits 0. */
static const uint8_t *turn_round(const struct reader *reader, struct slice nulls)
{
    uint8_t *validity = reader->room->alloc(reader->room->owner, nulls.len, 1);
    for (size_t i = 0; i < nulls.len; i++) {
        validity[i] = (uint8_t)~nulls.ptr[i];
    }
    if (reader->rows % 8 != 0) {
        validity[nulls.len - 1] &= (uint8_t)((1u << reader->rows % 8) - 1);
    }
    return validity;
}

static bool read_nulls(struct reader *reader, struct column *column, struct error *err)
{
    size_t rows = reader->rows;
    struct slice nulls;
    if (!take_bytes(&reader->wire, (rows + 7) / 8, "null bitmap", &nulls, err)) {
        return false;
    }
    if (rows % 8 != 0 && nulls.ptr[nulls.len - 1] >> rows % 8 != 0) {
        return error_set(err, ERROR_DATA_LOSS, "null bitmap: spare bits set after row %zu", rows);
    }
    column->null_count = (uint32_t)decode_ones(nulls.ptr, rows);
    if (column->null_count > 0) {
        column->validity = turn_round(reader, nulls);
    }
    return true;
}

static bool read_numbers(struct reader *reader, struct column *column, struct error *err)
{
    struct slice values;
    if (!take_bytes(&reader->wire, 8 * reader->rows, "values", &values, err)) {
        return false;
    }
    column->values = values.ptr;
    return true;
}

/* A length of three bytes or more, or any that is not the shortest: the general reader decides.
 * Returns the length and moves *at behind it, or moves *at past the limit. */
static size_t long_length(const uint8_t *base, size_t limit, size_t *at)
{
    if (*at >= limit) {
        *at = limit + 1;
        return 0;
    }
    struct wire wire = wire_of(slice_of(base + *at, limit - *at));
    uint64_t len;
    if (!take_uvarint(&wire, "", &len, NULL) || len > limit) {
        *at = limit + 1;
        return 0;
    }
    *at = (size_t)(wire.at - base);
    return (size_t)len;
}

/* The strings of a column: `count` of them somewhere in `limit` bytes, and their tables to fill. */
struct strings {
    const uint8_t *base;
    size_t limit;
    size_t count;
    uint32_t *starts;
    uint32_t *ends;
};

/* Returns the bytes used. When a row does not fit, that is more than the limit, and *row_out tells
 * which. Each row is checked once, when its end is known: the first bytes of its length may be read
 * behind the limit, where 16 bytes are readable. */
static size_t fill_tables(const struct strings *strings, size_t *row_out)
{
    const uint8_t *base = strings->base;
    size_t at = 0;
    for (size_t row = 0; row < strings->count; row++) {
        size_t len = base[at];
        if (len < 0x80) {
            at += 1;
        } else if (base[at + 1] - 1u < 0x7F) {
            len = (len & 0x7F) | (size_t)base[at + 1] << 7;
            at += 2;
        } else {
            len = long_length(base, strings->limit, &at);
        }
        strings->starts[row] = (uint32_t)at;
        at += len;
        strings->ends[row] = (uint32_t)at;
        if (at > strings->limit) {
            *row_out = row;
            return at;
        }
    }
    return at;
}

static bool read_strings(struct reader *reader, struct column *column, struct error *err)
{
    struct strings strings = {
        .base = reader->wire.at, .limit = wire_left(&reader->wire), .count = reader->rows};
    if (strings.count > strings.limit) { /* looked at before tables of that size are made */
        return error_set(err, ERROR_DATA_LOSS, "values: %zu bytes found, %zu lengths expected",
                         strings.limit, strings.count);
    }
    size_t size = 2 * strings.count * sizeof(uint32_t);
    strings.starts = reader->room->alloc(reader->room->owner, size, alignof(uint32_t));
    strings.ends = strings.starts + strings.count;
    size_t row = 0;
    size_t used = fill_tables(&strings, &row);
    if (used > strings.limit) {
        return error_set(err, ERROR_DATA_LOSS,
                         "row %zu: no length in its shortest form found that ends within the %zu "
                         "bytes of values",
                         row, strings.limit);
    }
    column->values = strings.base;
    column->starts = strings.starts;
    column->ends = strings.ends;
    reader->wire.at += used;
    return true;
}

static bool read_column(struct reader *reader, struct column *column, struct error *err)
{
    return read_head(reader, column, err) && read_nulls(reader, column, err) &&
           (column_is_number(column) ? read_numbers(reader, column, err)
                                     : read_strings(reader, column, err));
}

static bool read_counts(struct reader *reader, size_t frame_len, size_t *columns_out,
                        struct error *err)
{
    uint64_t rows;
    uint64_t columns;
    if (!take_uvarint(&reader->wire, "row count", &rows, err) ||
        !take_uvarint(&reader->wire, "column count", &columns, err)) {
        return false;
    }
    if (rows > frame_len) {
        return error_set(err, ERROR_DATA_LOSS,
                         "%llu rows found, at most the frame's %zu bytes "
                         "expected",
                         (unsigned long long)rows, frame_len);
    }
    if (columns > wire_left(&reader->wire) / COLUMN_MIN) {
        return error_set(err, ERROR_DATA_LOSS,
                         "%llu columns found in the %zu bytes left, 4 bytes "
                         "for each expected",
                         (unsigned long long)columns, wire_left(&reader->wire));
    }
    if (rows > 0 && columns == 0) {
        return error_set(err, ERROR_DATA_LOSS, "%llu rows without a column found, 0 expected",
                         (unsigned long long)rows);
    }
    reader->rows = (size_t)rows;
    *columns_out = (size_t)columns;
    return true;
}

bool decode_v3(struct slice frame, const struct room *room, struct view *view, struct error *err)
{
    if (frame.len < FRAME_MIN || frame.len > UINT32_MAX) {
        return error_set(err, ERROR_DATA_LOSS, "frame of %zu bytes found, %d to %u expected",
                         frame.len, FRAME_MIN, UINT32_MAX);
    }
    struct slice rest =
        slice_of(frame.ptr + DECODE_VERSION_AT + 1, frame.len - DECODE_VERSION_AT - 1);
    struct reader reader = {.wire = wire_of(rest), .room = room};
    size_t columns = 0;
    if (!read_counts(&reader, frame.len, &columns, err)) {
        return false;
    }
    for (size_t i = 0; i < columns; i++) {
        struct column *column = view_add_column(view, room);
        if (!read_column(&reader, column, err)) {
            return decode_blame(err, i, column);
        }
    }
    if (wire_left(&reader.wire) > 0) {
        return error_set(err, ERROR_DATA_LOSS, "%zu bytes found after the last column (%zu of %zu)",
                         wire_left(&reader.wire), columns, columns);
    }
    view->row_count = reader.rows;
    return true;
}
