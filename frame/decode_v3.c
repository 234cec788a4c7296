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

#define FRAME_MIN   7
#define ROWS_A_STEP 16
#define COLUMN_MIN  4 /* role, type, two empty names */

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

/* The bitmap's complement, with its spare bits 0. */
static const uint8_t *turn_round(const struct decode *reader, struct slice nulls)
{
    uint8_t *validity = reader->room.alloc(reader->room.owner, nulls.len, 1);
    for (size_t i = 0; i < nulls.len; i++) {
        validity[i] = (uint8_t)~nulls.ptr[i];
    }
    if (reader->rows % 8 != 0) {
        validity[nulls.len - 1] &= (uint8_t)((1u << reader->rows % 8) - 1);
    }
    return validity;
}

static bool read_nulls(struct decode *reader, struct column *column, struct error *err)
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

/* Reads rows from decode->row up to `end`. Returns the bytes read so far, of which `limit` may be;
 * when a row does not fit they are more, and *row_out tells which. Each row is checked once, when
 * its end is known: the first bytes of its length may be read behind the limit, where 16 bytes are
 * readable. */
static size_t fill_tables(const struct decode *decode, size_t limit, size_t end, size_t *row_out)
{
    const uint8_t *base = decode->base;
    size_t at = decode->at;
    for (size_t row = decode->row; row < end; row++) {
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
    decode->base = decode->wire.at;
    decode->at = 0;
    decode->row = 0;
    return true;
}

static void end_strings(struct decode *decode)
{
    struct column *column = decode_column(decode);
    column->values = decode->base;
    column->starts = decode->starts;
    column->ends = decode->ends;
    decode->wire.at += decode->at;
    decode->base = NULL;
}

static enum progress read_strings(struct decode *decode, size_t *left, struct error *err)
{
    const size_t limit = wire_left(&decode->wire);
    const size_t rest = decode->rows - decode->row;
    const size_t end = decode->row + (rest < *left ? rest : *left);
    size_t row = 0;
    decode->at = fill_tables(decode, limit, end, &row);
    if (decode->at > limit) {
        error_set(err, ERROR_DATA_LOSS,
                  "row %zu: no length in its shortest form found that ends within the %zu bytes of "
                  "values",
                  row, limit);
        return PROGRESS_FAILED;
    }
    progress_spend(left, end - decode->row);
    decode->row = end;
    if (end < decode->rows) {
        return PROGRESS_MORE;
    }
    end_strings(decode);
    return PROGRESS_DONE;
}

/* What comes before a column's strings, and all of numbers. */
static bool begin_column(struct decode *decode, struct column *column, struct error *err)
{
    return read_head(decode, column, err) && read_nulls(decode, column, err) &&
           (column_is_number(column) ? read_numbers(decode, column, err)
                                     : begin_strings(decode, err));
}

enum progress decode_v3_column(struct decode *decode, size_t *left, struct error *err)
{
    struct column *column = decode_column(decode);
    if (decode->base == NULL) {
        progress_spend(left, 1 + decode->rows / ROWS_A_STEP);
        if (!begin_column(decode, column, err)) {
            return PROGRESS_FAILED;
        }
    }
    return decode->base == NULL ? PROGRESS_DONE : read_strings(decode, left, err);
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
