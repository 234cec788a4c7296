// SPDX-License-Identifier: Apache-2.0
/*
 * A group's running total: SUM, COUNT, MIN, MAX, MEAN over ints or floats.
 *
 * It takes values of rows, or nodes' partial totals; what comes out depends on what went in, not
 * on the order or on the split: whole numbers wrap around as int64 does, floats are summed exactly
 * and rounded once. Nulls are passed over. Cells are read by their own kind and turned into the
 * field's type one by one: ints become floats; a float for an INT field, which no schema asks for,
 * counts as its whole part.
 *
 * In MIN and MAX a NaN counts only when there is nothing else, and -0 is below 0.
 */
#pragma once

#include "merge/cell.h"
#include "merge/exact.h"
#include "merge/plan.h"

struct reduce {
    bool has;      /* MIN, MAX: a value has been seen */
    bool started;  /* MIN, MAX: a node has sent what it starts from */
    bool veiled;   /* MIN: a node has sent NaN, after which it takes no other value */
    int64_t count; /* COUNT, MEAN: of values that were not null */
    union {
        int64_t i;
        double f;
        struct exact sum; /* SUM and MEAN of floats */
    } value;
};

/* A row's value. A zeroed total has seen none. */
void reduce_value(struct reduce *reduce, const struct plan_agg *agg, const struct cell *value,
                  struct arena *arena);

/* A node's partial total, and for MEAN the count beside it (otherwise NULL).
 *
 * A node sends the value that it starts from (MIN: the greatest int64 or double; MAX: the least)
 * when a group has only nulls, with nothing to tell it from data. It is taken for no value, so one
 * real value equal to it, in a group that has no other, is answered as null; so is a MAX of only
 * -infinity or NaN, which a node does not take. And a MIN that a node began with NaN stays NaN. */
void reduce_partial(struct reduce *reduce, const struct plan_agg *agg, const struct cell *value,
                    const struct cell *count, struct arena *arena);

/* After partials: only rows would tell the MIN or MAX. */
static inline bool reduce_is_open(const struct reduce *reduce)
{
    return reduce->veiled || (reduce->started && !reduce->has);
}

/* The total in the field's type. Without values SUM, COUNT and MEAN are 0, MIN and MAX null. */
struct cell reduce_result(const struct reduce *reduce, const struct plan_agg *agg);

/* A number as the one type or the other. Of a float its whole part, within what an int64 holds;
 * NaN is 0. */
int64_t reduce_int_of(const struct cell *cell);
double reduce_float_of(const struct cell *cell);
