// SPDX-License-Identifier: Apache-2.0
/*
 * The N best rows by a field. A heap has the worst of the kept rows on top: a row that is not
 * better is gone after one comparison, one that is takes the worst one's place and its storage.
 *
 *     order    null  <  NaN  <  numbers, ints and floats compared by what they are
 *
 * Rows of equal value keep the order of the stream, also at the cut: of those that do not all fit,
 * the first stay. Strings and bytes are taken for null. What is held grows with the rows that
 * there are, never by the number asked for.
 */
#pragma once

#include "merge/heap.h"
#include "merge/kept.h"
#include "merge/plan.h"
#include "merge/stage.h"

struct top_row {
    struct cell value; /* a number, or CELL_NULL */
    uint64_t place;    /* in the stream */
    struct row row;    /* cells: those of `kept` */
    struct kept kept;
};

struct top {
    struct stage stage;      /* first */
    const struct plan *plan; /* borrow: outlives the stage */
    struct arena *arena;     /* borrow: outlives the stage */
    size_t column_count;     /* of a row */
    size_t field;            /* where in a row the value is, or SHAPE_NOWHERE */
    uint64_t places;         /* rows so far */
    struct heap heap;        /* of top_rows, the worst on top */
    size_t capacity;         /* of the heap */
    size_t ranked;           /* top_rows at the end of the heap's items that have left it */
    size_t given;            /* of those */
};

void top_init(struct top *top, const struct plan *plan, struct arena *arena, struct sink *next);

/* <0, 0, >0 in the order above. */
int top_compare(const struct cell *a, const struct cell *b);
