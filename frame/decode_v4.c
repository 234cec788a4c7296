// SPDX-License-Identifier: Apache-2.0
/*
 * Wire version 4. The published design fixes what such a frame holds (validity only when there are
 * nulls, plain or offset values padded to 8, constants under an expansion budget), not its header
 * bytes: the exact header is this project's own, and stands in this file alone so that it can
 * follow published bytes later. Little-endian; every block on a multiple of 8; every gap zero.
 *
 *     frame    0 magic 00 56 46 52 · 4 version · 5 zero[3] · 8 rows u32 · 12 columns u32
 *     column   0 role · 1 type · 2 flags · 3 zero · 4 name length u16 · 6 family length u16
 *              8 null count u32 · 12 values length u32 · 16 name family
 *              [validity: 1 bit a value] [offsets: N+1 int32] values
 *
 * N is the row count, or 1 in a constant column. Everything is used where it lies; checking is one
 * pass over offsets and bitmaps, and the values themselves are not read.
 */
#include "frame/decode_layout.h"

#include <assert.h>

#define FRAME_HEADER   16
#define ROWS_AT        8
#define OFFSETS_A_STEP 32
#define FLAG_VALIDITY  1u
#define FLAG_CONSTANT  2u
#define FLAGS_KNOWN    (FLAG_VALIDITY | FLAG_CONSTANT)

struct header {
    uint8_t role;
    uint8_t type;
    uint8_t flags;
    uint8_t zero;
    uint16_t name_len;
    uint16_t family_len;
    uint32_t null_count;
    uint32_t values_len;
};
static_assert(sizeof(struct header) == 16, "as on the wire");

static size_t stored_values(const struct decode *reader, const struct column *column)
{
    return column->constant ? 1 : reader->rows;
}

/* Takes a block and the zero bytes that follow it up to the next multiple of 8. The false is
 * spelt out here and in decode_v3.c's takers, for compilers that watch the outputs. */
static bool take_padded(struct wire *wire, size_t len, const char *what, struct slice *block_out,
                        struct error *err)
{
    size_t padded = (len + 7) / 8 * 8;
    if (padded > wire_left(wire)) {
        error_set(err, ERROR_DATA_LOSS, "%s: %zu bytes found, %zu (%zu padded) expected", what,
                  wire_left(wire), len, padded);
        return false;
    }
    *block_out = slice_of(wire->at, len);
    wire->at += padded;
    if (len % 8 != 0 && wire_load64(wire->at - 8) >> 8 * (len % 8) != 0) {
        error_set(err, ERROR_DATA_LOSS, "%s: non-zero padding found after its %zu bytes", what,
                  len);
        return false;
    }
    return true;
}

static bool read_header(struct decode *reader, struct header *header, struct column *column,
                        struct error *err)
{
    struct slice bytes;
    if (!take_padded(&reader->wire, sizeof *header, "column header", &bytes, err)) {
        return false;
    }
    memcpy(header, bytes.ptr, sizeof *header);
    size_t names_len = (size_t)header->name_len + header->family_len;
    if (!take_padded(&reader->wire, names_len, "names", &bytes, err)) {
        return false;
    }
    column->name = slice_of(bytes.ptr, header->name_len);
    column->family = slice_of(bytes.ptr + header->name_len, header->family_len);
    return true;
}

static bool check_flags(const struct decode *reader, const struct header *header,
                        struct column *column, struct error *err)
{
    if ((header->flags & ~FLAGS_KNOWN) != 0) {
        return error_set(err, ERROR_DATA_LOSS, "flags 0x%02x found, only bits 0 and 1 expected",
                         header->flags);
    }
    if (header->zero != 0) {
        return error_set(err, ERROR_DATA_LOSS, "spare header byte 0x%02x found, 0 expected",
                         header->zero);
    }
    column->constant = (header->flags & FLAG_CONSTANT) != 0;
    if (column->constant && reader->rows == 0) {
        return error_set(err, ERROR_DATA_LOSS, "a constant found in a frame of 0 rows");
    }
    column->mask = column->constant ? 0 : SIZE_MAX;
    return true;
}

static bool take_validity(struct decode *reader, const struct header *header, struct column *column,
                          struct error *err)
{
    const size_t count = stored_values(reader, column);
    column->null_count = header->null_count;
    if ((header->flags & FLAG_VALIDITY) == 0) {
        return header->null_count == 0 ||
               error_set(err, ERROR_DATA_LOSS, "null count %u found, 0 without validity expected",
                         header->null_count);
    }
    struct slice bits;
    if (!take_padded(&reader->wire, (count + 7) / 8, "validity", &bits, err)) {
        return false;
    }
    if (count % 8 != 0 && bits.ptr[bits.len - 1] >> count % 8 != 0) {
        return error_set(err, ERROR_DATA_LOSS, "validity: spare bits set after value %zu", count);
    }
    reader->bits = bits.ptr;
    column->validity = bits.ptr;
    return true;
}

static bool check_nulls(const struct decode *reader, const struct column *column, struct error *err)
{
    const size_t count = stored_values(reader, column);
    const size_t nulls = count - reader->ones;
    return (nulls > 0 && nulls == column->null_count) ||
           error_set(err, ERROR_DATA_LOSS,
                     "null count %u found; the validity has %zu zero bits of %zu, at least 1 "
                     "expected",
                     column->null_count, nulls, count);
}

/* Four offsets at a time: every machine we run on has registers of 16 bytes. */
typedef uint32_t lanes __attribute__((vector_size(16)));
enum { LANES = sizeof(lanes) / sizeof(uint32_t) };

/* True if 0 ≤ at[0] ≤ at[1] ≤ … as int32: the sign bits of all values and of all differences are
 * gathered without a branch and looked at once. */
static bool offsets_rise(const uint32_t *at, size_t count)
{
    lanes gathered = {0};
    size_t i = 1;
    for (; i + LANES <= count; i += LANES) {
        lanes here;
        lanes before;
        memcpy(&here, at + i, sizeof here);
        memcpy(&before, at + i - 1, sizeof before);
        gathered |= here | (here - before);
    }
    uint32_t signs = at[0];
    for (size_t k = 0; k < LANES; k++) {
        signs |= gathered[k];
    }
    for (; i < count; i++) {
        signs |= at[i] | (at[i] - at[i - 1]);
    }
    return signs >> 31 == 0;
}

/* The slow look for the text, once it is known that of the offsets from `at` on, up to `end`, one
 * is less than the one before it. */
static bool blame_offset(const int32_t *offsets, size_t at, size_t end, struct error *err)
{
    while (at < end && offsets[at + 1] >= offsets[at]) {
        at++;
    }
    return error_set(err, ERROR_DATA_LOSS, "offset %zu: %d found, at least %d expected", at + 1,
                     offsets[at + 1], offsets[at]);
}

static bool take_offsets(struct decode *reader, struct column *column, struct error *err)
{
    const size_t count = stored_values(reader, column);
    struct slice block;
    if (!take_padded(&reader->wire, (count + 1) * sizeof(uint32_t), "offsets", &block, err)) {
        return false;
    }
    const void *start = block.ptr; /* on a multiple of 8, as all blocks are */
    const uint32_t *offsets = start;
    column->starts = offsets;
    column->ends = offsets + 1;
    return offsets[0] == 0 ||
           error_set(err, ERROR_DATA_LOSS, "offset 0: %d found, 0 expected", (int32_t)offsets[0]);
}

static bool check_offsets(struct decode *reader, const struct column *column, size_t *left,
                          struct error *err)
{
    const size_t count = stored_values(reader, column);
    const size_t begin = reader->done;
    reader->done += progress_share(count - begin, OFFSETS_A_STEP, left);
    if (!offsets_rise(column->starts + begin, reader->done - begin + 1)) {
        return blame_offset((const int32_t *)column->starts, begin, reader->done, err);
    }
    if (reader->done == count && column->starts[count] != reader->values_len) {
        return error_set(err, ERROR_DATA_LOSS, "last offset %u found, values length %u expected",
                         column->starts[count], reader->values_len);
    }
    return true;
}

/* A few bytes of constants can stand for gigabytes; the sum over the frame is bounded. */
static bool spend_expansion(struct decode *reader, const struct column *column, struct error *err)
{
    if (!column->constant) {
        return true;
    }
    uint64_t each = column_is_number(column) ? 8 : UINT64_C(16) + reader->values_len;
    reader->expanded += reader->rows * each;
    return reader->expanded <= DECODE_CONSTANT_BUDGET ||
           error_set(err, ERROR_DATA_LOSS,
                     "constants that expand to %llu bytes found, at most %u expected",
                     (unsigned long long)reader->expanded, DECODE_CONSTANT_BUDGET);
}

/* Parts, in the order in which a column has them. */

static bool read_head(struct decode *reader, struct column *column, struct error *err)
{
    struct header header;
    if (!read_header(reader, &header, column, err) ||
        !decode_kind(column, header.role, header.type, err) ||
        !check_flags(reader, &header, column, err) ||
        !take_validity(reader, &header, column, err)) {
        return false;
    }
    reader->values_len = header.values_len;
    decode_go_to(reader, DECODE_BITS);
    return true;
}

static bool end_column(struct decode *reader, struct column *column, struct error *err)
{
    struct slice values;
    if (!take_padded(&reader->wire, reader->values_len, "values", &values, err)) {
        return false;
    }
    column->values = values.ptr;
    decode_go_to(reader, DECODE_HEAD);
    return spend_expansion(reader, column, err);
}

static bool end_bits(struct decode *reader, struct column *column, struct error *err)
{
    if (column->validity != NULL && !check_nulls(reader, column, err)) {
        return false;
    }
    if (!column_is_number(column)) {
        decode_go_to(reader, DECODE_TABLE);
        return take_offsets(reader, column, err);
    }
    const size_t expected = 8 * stored_values(reader, column);
    if (reader->values_len != expected) {
        return error_set(err, ERROR_DATA_LOSS, "values length %u found, %zu expected",
                         reader->values_len, expected);
    }
    return end_column(reader, column, err);
}

static bool read_bits(struct decode *reader, struct column *column, size_t *left, struct error *err)
{
    const bool done =
        column->validity == NULL || decode_count(reader, stored_values(reader, column), left);
    return !done || end_bits(reader, column, err);
}

static bool read_table(struct decode *reader, struct column *column, size_t *left,
                       struct error *err)
{
    return check_offsets(reader, column, left, err) &&
           (reader->done < stored_values(reader, column) || end_column(reader, column, err));
}

bool decode_v4_part(struct decode *decode, size_t *left, struct error *err)
{
    struct column *column = decode_column(decode);
    switch (decode->part) {
    case DECODE_HEAD:
        progress_spend(left, 1);
        return read_head(decode, column, err);
    case DECODE_BITS:
        return read_bits(decode, column, left, err);
    case DECODE_TABLE:
        return read_table(decode, column, left, err);
    case DECODE_TURN:
        break;
    }
    return true;
}

static bool check_frame(struct slice frame, size_t rows, size_t columns, struct error *err)
{
    if ((wire_load64(frame.ptr) >> 40) != 0) {
        return error_set(err, ERROR_DATA_LOSS, "spare header bytes %02x%02x%02x found, 0 expected",
                         frame.ptr[5], frame.ptr[6], frame.ptr[7]);
    }
    if (rows > 0 && columns == 0) {
        return error_set(err, ERROR_DATA_LOSS, "%zu rows without a column found, 0 expected", rows);
    }
    return true;
}

/* A row takes 4 bytes of a column that is not constant, and 8 of the budget in one that is. */
size_t decode_v4_rows(struct slice start, size_t len)
{
    if (start.len < ROWS_AT + sizeof(uint32_t)) {
        return 0;
    }
    const size_t rows = wire_load32(start.ptr + ROWS_AT);
    return rows <= len / 4 || rows <= DECODE_CONSTANT_BUDGET / 8 ? rows : 0;
}

bool decode_v4_header(struct decode *decode, struct error *err)
{
    const struct slice frame = decode->frame;
    if (frame.len < FRAME_HEADER) {
        return error_set(err, ERROR_DATA_LOSS, "frame header: %zu bytes found, %d expected",
                         frame.len, FRAME_HEADER);
    }
    decode->rows = wire_load32(frame.ptr + ROWS_AT);
    decode->columns = wire_load32(frame.ptr + 12);
    decode->wire = wire_of(slice_of(frame.ptr + FRAME_HEADER, frame.len - FRAME_HEADER));
    return check_frame(frame, decode->rows, decode->columns, err);
}
