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

#define FRAME_HEADER  16
#define ROWS_A_STEP   16
#define FLAG_VALIDITY 1u
#define FLAG_CONSTANT 2u
#define FLAGS_KNOWN   (FLAG_VALIDITY | FLAG_CONSTANT)

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

static size_t stored_values(const struct decode *reader, const struct header *header)
{
    return header->flags & FLAG_CONSTANT ? 1 : reader->rows;
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

static bool read_validity(struct decode *reader, const struct header *header, struct column *column,
                          struct error *err)
{
    size_t count = stored_values(reader, header);
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
    size_t nulls = count - decode_ones(bits.ptr, count);
    if (nulls == 0 || nulls != header->null_count) {
        return error_set(err, ERROR_DATA_LOSS,
                         "null count %u found; the validity has %zu zero bits of %zu, at least 1 "
                         "expected",
                         header->null_count, nulls, count);
    }
    column->validity = bits.ptr;
    column->null_count = header->null_count;
    return true;
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

/* The slow look for the text, once it is known that some offset is wrong. */
static bool blame_offset(const int32_t *at, size_t count, struct error *err)
{
    for (size_t i = 1; i < count; i++) {
        if (at[i] < at[i - 1]) {
            return error_set(err, ERROR_DATA_LOSS, "offset %zu: %d found, at least %d expected", i,
                             at[i], at[i - 1]);
        }
    }
    return error_set(err, ERROR_DATA_LOSS, "offset 0: %d found, 0 expected", at[0]);
}

static bool read_offsets(struct decode *reader, const struct header *header, struct column *column,
                         struct error *err)
{
    size_t count = stored_values(reader, header) + 1;
    struct slice block;
    if (!take_padded(&reader->wire, count * sizeof(uint32_t), "offsets", &block, err)) {
        return false;
    }
    const void *start = block.ptr; /* on a multiple of 8, as all blocks are */
    const uint32_t *offsets = start;
    if (offsets[0] != 0 || !offsets_rise(offsets, count)) {
        return blame_offset(start, count, err);
    }
    if (offsets[count - 1] != header->values_len) {
        return error_set(err, ERROR_DATA_LOSS, "last offset %u found, values length %u expected",
                         offsets[count - 1], header->values_len);
    }
    column->starts = offsets;
    column->ends = offsets + 1;
    return true;
}

static bool read_values(struct decode *reader, const struct header *header, struct column *column,
                        struct error *err)
{
    size_t expected = 8 * stored_values(reader, header);
    if (column_is_number(column) && header->values_len != expected) {
        return error_set(err, ERROR_DATA_LOSS, "values length %u found, %zu expected",
                         header->values_len, expected);
    }
    if (!column_is_number(column) && !read_offsets(reader, header, column, err)) {
        return false;
    }
    struct slice values;
    if (!take_padded(&reader->wire, header->values_len, "values", &values, err)) {
        return false;
    }
    column->values = values.ptr;
    return true;
}

/* A few bytes of constants can stand for gigabytes; the sum over the frame is bounded. */
static bool spend_expansion(struct decode *reader, const struct header *header,
                            const struct column *column, struct error *err)
{
    if (!column->constant) {
        return true;
    }
    uint64_t each = column_is_number(column) ? 8 : UINT64_C(16) + header->values_len;
    reader->expanded += reader->rows * each;
    return reader->expanded <= DECODE_CONSTANT_BUDGET ||
           error_set(err, ERROR_DATA_LOSS,
                     "constants that expand to %llu bytes found, at most %u expected",
                     (unsigned long long)reader->expanded, DECODE_CONSTANT_BUDGET);
}

static bool read_column(struct decode *reader, struct column *column, struct error *err)
{
    struct header header;
    return read_header(reader, &header, column, err) &&
           decode_kind(column, header.role, header.type, err) &&
           check_flags(reader, &header, column, err) &&
           read_validity(reader, &header, column, err) &&
           read_values(reader, &header, column, err) &&
           spend_expansion(reader, &header, column, err);
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

bool decode_v4_header(struct decode *decode, struct error *err)
{
    const struct slice frame = decode->frame;
    if (frame.len < FRAME_HEADER) {
        return error_set(err, ERROR_DATA_LOSS, "frame header: %zu bytes found, %d expected",
                         frame.len, FRAME_HEADER);
    }
    decode->rows = wire_load32(frame.ptr + 8);
    decode->columns = wire_load32(frame.ptr + 12);
    decode->wire = wire_of(slice_of(frame.ptr + FRAME_HEADER, frame.len - FRAME_HEADER));
    return check_frame(frame, decode->rows, decode->columns, err);
}

/* Offsets are looked at many at a time, so a column is done in one go: of a frame of 100 MB in some
 * milliseconds. */
enum progress decode_v4_column(struct decode *decode, size_t *left, struct error *err)
{
    progress_spend(left, 1 + decode->rows / ROWS_A_STEP);
    return read_column(decode, decode_column(decode), err) ? PROGRESS_DONE : PROGRESS_FAILED;
}
