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

static bool read_head(struct decode *reader, struct column *column, struct error *err)
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

static bool take_nulls(struct decode *reader, struct error *err)
{
    const size_t rows = reader->rows;
    struct slice nulls;
    if (!take_bytes(&reader->wire, (rows + 7) / 8, "null bitmap", &nulls, err)) {
        return false;
    }
    if (rows % 8 != 0 && nulls.ptr[nulls.len - 1] >> rows % 8 != 0) {
        return error_set(err, ERROR_DATA_LOSS, "null bitmap: spare bits set after row %zu", rows);
    }
    reader->bits = nulls.ptr;
    return true;
}

static bool read_numbers(struct decode *reader, struct column *column, struct error *err)
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

/* Reads rows from decode->done up to `end`. Returns the bytes read so far, of which `limit` may be;
 * when a row does not fit they are more, and *row_out tells which. Each row is checked once, when
 * its end is known: the first bytes of its length may be read behind the limit, where 16 bytes are
 * readable. */
static size_t fill_tables(const struct decode *decode, size_t limit, size_t end, size_t *row_out)
{
    const uint8_t *base = decode->wire.at;
    size_t at = decode->at;
    for (size_t row = decode->done; row < end; row++) {
        size_t len = base[at];
        if (len < 0x80) {
            at += 1;
        } else if (base[at + 1] - 1u < 0x7F) {
            len = (len & 0x7F) | (size_t)base[at + 1] << 7;
            at += 2;
        } else {
            len = long_length(base, limit, &at);
        }
        decode->starts[row] = (uint32_t)at;
        at += len;
        decode->ends[row] = (uint32_t)at;
        if (at > limit) {
            *row_out = row;
            return at;
        }
    }
    return at;
}

static bool begin_strings(struct decode *decode, struct error *err)
{
    const size_t limit = wire_left(&decode->wire);
    if (decode->rows > limit) { /* looked at before tables of that size are made */
        return error_set(err, ERROR_DATA_LOSS, "values: %zu bytes found, %zu lengths expected",
                         limit, decode->rows);
    }
    size_t size = 2 * decode->rows * sizeof(uint32_t);
    decode->starts = decode->room.alloc(decode->room.owner, size, alignof(uint32_t));
    decode->ends = decode->starts + decode->rows;
    decode->at = 0;
    decode_go_to(decode, DECODE_TABLE);
    return true;
}

/* Parts, in the order in which a column has them. */

static bool read_first(struct decode *decode, struct column *column, struct error *err)
{
    if (!read_head(decode, column, err) || !take_nulls(decode, err)) {
        return false;
    }
    decode_go_to(decode, DECODE_BITS);
    return true;
}

static bool begin_values(struct decode *decode, struct column *column, struct error *err)
{
    if (!column_is_number(column)) {
        return begin_strings(decode, err);
    }
    decode_go_to(decode, DECODE_HEAD);
    return read_numbers(decode, column, err);
}

static bool read_bits(struct decode *decode, struct column *column, size_t *left, struct error *err)
{
    if (!decode_count(decode, decode->rows, left)) {
        return true;
    }
    column->null_count = (uint32_t)decode->ones;
    if (decode->ones == 0) {
        return begin_values(decode, column, err);
    }
    decode->validity = decode->room.alloc(decode->room.owner, (decode->rows + 7) / 8, 1);
    decode_go_to(decode, DECODE_TURN);
    return true;
}

/* The bitmap's complement, with its spare bits 0. */
static bool turn_round(struct decode *decode, struct column *column, size_t *left,
                       struct error *err)
{
    const size_t end =
        decode->done + progress_share(decode->rows - decode->done, DECODE_BITS_A_STEP, left);
    for (size_t i = decode->done / 8; i < (end + 7) / 8; i++) {
        decode->validity[i] = (uint8_t)~decode->bits[i];
    }
    decode->done = end;
    if (end < decode->rows) {
        return true;
    }
    if (end % 8 != 0) {
        decode->validity[end / 8] &= (uint8_t)((1u << end % 8) - 1);
    }
    column->validity = decode->validity;
    return begin_values(decode, column, err);
}

static void end_strings(struct decode *decode, struct column *column)
{
    column->values = decode->wire.at;
    column->starts = decode->starts;
    column->ends = decode->ends;
    decode->wire.at += decode->at;
    decode_go_to(decode, DECODE_HEAD);
}

static bool read_strings(struct decode *decode, struct column *column, size_t *left,
                         struct error *err)
{
    const size_t limit = wire_left(&decode->wire);
    const size_t end = decode->done + progress_share(decode->rows - decode->done, 1, left);
    size_t row = 0;
    decode->at = fill_tables(decode, limit, end, &row);
    if (decode->at > limit) {
        return error_set(err, ERROR_DATA_LOSS,
                         "row %zu: no length in its shortest form found that ends within the %zu "
                         "bytes of values",
                         row, limit);
    }
    decode->done = end;
    if (end == decode->rows) {
        end_strings(decode, column);
    }
    return true;
}

bool decode_v3_part(struct decode *decode, size_t *left, struct error *err)
{
    struct column *column = decode_column(decode);
    switch (decode->part) {
    case DECODE_HEAD:
        progress_spend(left, 1);
        return read_first(decode, column, err);
    case DECODE_BITS:
        return read_bits(decode, column, left, err);
    case DECODE_TURN:
        return turn_round(decode, column, left, err);
    case DECODE_TABLE:
        return read_strings(decode, column, left, err);
    }
    return true;
}

static bool read_counts(struct decode *reader, struct error *err)
{
    uint64_t rows;
    uint64_t columns;
    if (!take_uvarint(&reader->wire, "row count", &rows, err) ||
        !take_uvarint(&reader->wire, "column count", &columns, err)) {
        return false;
    }
    if (rows > reader->frame.len) {
        return error_set(err, ERROR_DATA_LOSS,
                         "%llu rows found, at most the frame's %zu bytes "
                         "expected",
                         (unsigned long long)rows, reader->frame.len);
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
    reader->columns = (size_t)columns;
    return true;
}

size_t decode_v3_rows(struct slice start, size_t len)
{
    const size_t at = DECODE_VERSION_AT + 1;
    struct wire wire = wire_of(slice_of(start.ptr + at, start.len - at));
    uint64_t rows;
    return wire_uvarint(&wire, &rows) && rows <= len ? (size_t)rows : 0;
}

bool decode_v3_header(struct decode *decode, struct error *err)
{
    const struct slice frame = decode->frame;
    if (frame.len < FRAME_MIN || frame.len > UINT32_MAX) {
        return error_set(err, ERROR_DATA_LOSS, "frame of %zu bytes found, %d to %u expected",
                         frame.len, FRAME_MIN, UINT32_MAX);
    }
    decode->wire =
        wire_of(slice_of(frame.ptr + DECODE_VERSION_AT + 1, frame.len - DECODE_VERSION_AT - 1));
    return read_counts(decode, err);
}
