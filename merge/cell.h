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
    CELL_INT,    /* number.i */
    CELL_FLOAT,  /* number.f */
    CELL_STRING, /* bytes */
    CELL_BINARY, /* bytes */
    /* The rest came as a TagValue message and is passed on as it is: `bytes` is a whole,
     * well-formed TagValue of this variant, `inner` the variant's message. */
    CELL_STRINGS, /* inner: model.v1.StrArray */
    CELL_INTS,    /* inner: model.v1.IntArray */
    CELL_TIME,    /* inner: google.protobuf.Timestamp */
};

struct cell {
    enum cell_kind kind;
    union {
        int64_t i;
        double f;
    } number;
    struct slice bytes; /* borrow: message or region */
    struct slice inner; /* borrow */
};

/* Reads a TagValue or FieldValue cell, walking all its lengths; false: malformed. */
bool cell_read_message(const struct column *column, struct slice message, struct cell *cell);

/* DATA_LOSS naming column and row; returns false. */
bool cell_malformed(const struct column *column, size_t row, struct error *err);

/* Reads the cell of a column. Null bit, Null variant and empty message all give CELL_NULL. */
static inline bool cell_read(const struct column *column, size_t row, struct cell *cell,
                             struct error *err)
{
    if (column_is_null(column, row)) {
        cell->kind = CELL_NULL;
        return true;
    }
    switch (column->type) {
    case COLUMN_INT64:
        cell->kind = CELL_INT;
        cell->number.i = column_int(column, row);
        return true;
    case COLUMN_FLOAT64:
        cell->kind = CELL_FLOAT;
        cell->number.f = column_float(column, row);
        return true;
    case COLUMN_STRING:
        cell->kind = CELL_STRING;
        cell->bytes = column_bytes(column, row);
        return true;
    case COLUMN_BYTES:
        cell->kind = CELL_BINARY;
        cell->bytes = column_bytes(column, row);
        return true;
    case COLUMN_TAG_VALUE:
    case COLUMN_FIELD_VALUE:
        return cell_read_message(column, column_bytes(column, row), cell) ||
               cell_malformed(column, row, err);
    }
    return cell_malformed(column, row, err);
}

/* The cell with its bytes kept in the region. */
struct cell cell_keep(struct arena *arena, const struct cell *cell);
