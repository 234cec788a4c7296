// SPDX-License-Identifier: Apache-2.0
/*
 * A decoded frame: columns as slices of the message that it came in.
 *
 * Everything was checked once when the frame was decoded, so reading needs no checks: a number is
 * one load, a string is two loads and an addition. A constant column stores one value; `mask` is 0
 * for it and all ones otherwise, so `row & mask` is the index of the stored value in both cases.
 *
 * The view owns nothing. It is valid while its message is pinned and, for version 3 (whose string
 * tables are built while decoding), while the room that the decoder was given lives.
 */
#pragma once

#include "frame/column.h"
#include "frame/slice.h"

struct column {
    enum column_role role;
    enum column_type type;
    bool constant;
    struct slice name;       /* borrow: message */
    struct slice family;     /* borrow: message; empty unless role is TAG */
    size_t mask;             /* 0 when constant, SIZE_MAX otherwise */
    uint32_t null_count;     /* among the stored values */
    const uint8_t *validity; /* borrow; bit i&7 of byte i>>3: value i is valid. NULL: all are */
    const uint8_t *values;   /* borrow; numbers: 8 bytes each; else what the offsets count from */
    const uint32_t *starts;  /* borrow; offsets from `values`; NULL for numbers */
    const uint32_t *ends;    /* borrow; version 4: starts + 1 */
};

struct room;

struct view {
    uint8_t version; /* of the frame: 3 or 4 */
    size_t row_count;
    size_t column_count;
    struct column *columns; /* borrow: the decoder's room */
};

static inline bool column_is_null(const struct column *column, size_t row)
{
    size_t i = row & column->mask;
    return column->validity != NULL && (column->validity[i >> 3] >> (i & 7) & 1) == 0;
}

/* The 8 bytes of a number (also where null: then any value). */
static inline uint64_t column_bits(const struct column *column, size_t row)
{
    uint64_t bits;
    memcpy(&bits, column->values + 8 * (row & column->mask), sizeof bits);
    return bits;
}

static inline int64_t column_int(const struct column *column, size_t row)
{
    return (int64_t)column_bits(column, row);
}

static inline double column_float(const struct column *column, size_t row)
{
    double value;
    memcpy(&value, column->values + 8 * (row & column->mask), sizeof value);
    return value;
}

/* The bytes of a string, bytes, TagValue or FieldValue cell. 16 readable bytes follow it. */
static inline struct slice column_bytes(const struct column *column, size_t row)
{
    size_t i = row & column->mask;
    return slice_of(column->values + column->starts[i], column->ends[i] - column->starts[i]);
}

static inline bool column_is_number(const struct column *column)
{
    return column->type == COLUMN_INT64 || column->type == COLUMN_FLOAT64;
}

/* The first column of this role, or NULL. Metadata columns are found so, never by position. */
const struct column *view_role(const struct view *view, enum column_role role);

/* For decoders: one more column, zeroed, at the end of view->columns, which moves when it grows. */
struct column *view_add_column(struct view *view, const struct room *room);
