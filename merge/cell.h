// SPDX-License-Identifier: Apache-2.0
/*
 * One value of a row, independent of the wire type of the column that it came from.
 *
 * Nodes choose a column's type by the values they see, so the same tag may arrive as a string from
 * one node and as TagValue messages from another; null has four spellings. A cell has one: cells
 * are what rows are compared by, kept as, and written from.
 */
#pragma once

#include "frame/error.h"
#include "frame/view.h"
#include "merge/arena.h"

enum cell_kind {
    CELL_NULL,
    CELL_INT,     /* number.i */
    CELL_FLOAT,   /* number.f */
    CELL_STRING,  /* bytes */
    CELL_BINARY,  /* bytes */
    CELL_MESSAGE, /* bytes: a whole TagValue or FieldValue message of another variant (arrays,
                     timestamps), well-formed, passed on as it is */
};

struct cell {
    enum cell_kind kind;
    union {
        int64_t i;
        double f;
    } number;
    struct slice bytes; /* borrow: message or region */
};

/* Reads the cell of a column. A TagValue or FieldValue cell is walked: malformed bytes are
 * DATA_LOSS naming column and row. Null bit, Null variant and empty message all give CELL_NULL. */
bool cell_read(const struct column *column, size_t row, struct cell *cell,
               struct error *err) MUST_CHECK;

/* The cell with its bytes kept in the region. */
struct cell cell_keep(struct arena *arena, struct cell cell);

/* Order by an index rule's tag: -1, 0, 1 as memcmp of the storage's index keys (an int is 8
 * big-endian bytes with the sign flipped, a float its order-preserving image, a string or binary
 * its bytes, a string array its elements joined by newlines, an int array its images in a row, a
 * timestamp its nanoseconds as an int); null comes before everything. */
int cell_order(const struct cell *a, const struct cell *b);

/* Equal as group keys and index keys: kind and value; null equals only null. */
bool cell_equal(const struct cell *a, const struct cell *b);
