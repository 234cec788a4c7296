// SPDX-License-Identifier: Apache-2.0
/* One function for what a value does to a total, one for what comes out. */
#include "merge/reduce.h"

#include <float.h>
#include <math.h>

static bool is_number(const struct cell *cell)
{
    return cell->kind == CELL_INT || cell->kind == CELL_FLOAT;
}

/* The whole part, within what an int64 holds. */
static int64_t whole_part(double value)
{
    if (isnan(value)) {
        return 0;
    }
    if (value >= 0x1p63) {
        return INT64_MAX;
    }
    return value <= -0x1p63 ? INT64_MIN : (int64_t)value;
}

int64_t reduce_int_of(const struct cell *cell)
{
    return cell->kind == CELL_INT ? cell->number.i : whole_part(cell->number.f);
}

double reduce_float_of(const struct cell *cell)
{
    return cell->kind == CELL_INT ? (double)cell->number.i : cell->number.f;
}

static int64_t wrapping_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void add(struct reduce *reduce, enum plan_type type, const struct cell *value,
                struct arena *arena)
{
    if (type == PLAN_INT) {
        reduce->value.i = wrapping_add(reduce->value.i, reduce_int_of(value));
    } else {
        exact_add(&reduce->value.sum, reduce_float_of(value), arena);
    }
}

/* Is a to be taken rather than b? Anything rather than NaN. */
static bool is_better_float(double a, double b, bool least)
{
    if (isnan(a) || isnan(b)) {
        return isnan(b) && !isnan(a);
    }
    if (a == b) { /* zeros of both signs: the negative one is below */
        return least ? signbit(a) > signbit(b) : signbit(a) < signbit(b);
    }
    return least ? a < b : a > b;
}

static void take_best(struct reduce *reduce, const struct plan_agg *agg, const struct cell *value)
{
    bool least = agg->function == PLAN_MIN;
    if (agg->type == PLAN_INT) {
        int64_t i = reduce_int_of(value);
        bool better = least ? i < reduce->value.i : i > reduce->value.i;
        reduce->value.i = !reduce->has || better ? i : reduce->value.i;
    } else {
        double f = reduce_float_of(value);
        bool better = !reduce->has || is_better_float(f, reduce->value.f, least);
        reduce->value.f = better ? f : reduce->value.f;
    }
    reduce->has = true;
}

static void take(struct reduce *reduce, const struct plan_agg *agg, const struct cell *value,
                 int64_t count, struct arena *arena)
{
    switch (agg->function) {
    case PLAN_SUM:
        add(reduce, agg->type, value, arena);
        break;
    case PLAN_COUNT:
        reduce->count = wrapping_add(reduce->count, count);
        break;
    case PLAN_MIN:
    case PLAN_MAX:
        take_best(reduce, agg, value);
        break;
    case PLAN_MEAN:
        add(reduce, agg->type, value, arena);
        reduce->count = wrapping_add(reduce->count, count);
        break;
    }
}

void reduce_value(struct reduce *reduce, const struct plan_agg *agg, const struct cell *value,
                  struct arena *arena)
{
    if (is_number(value)) {
        take(reduce, agg, value, 1, arena);
    }
}

/* What a node starts MIN or MAX from. */
static bool is_start(const struct plan_agg *agg, const struct cell *value)
{
    if (agg->function != PLAN_MIN && agg->function != PLAN_MAX) {
        return false;
    }
    bool least = agg->function == PLAN_MIN;
    if (value->kind == CELL_INT) {
        return value->number.i == (least ? INT64_MAX : INT64_MIN);
    }
    return value->number.f == (least ? DBL_MAX : -DBL_MAX);
}

static bool is_veil(const struct plan_agg *agg, const struct cell *value)
{
    return agg->function == PLAN_MIN && value->kind == CELL_FLOAT && isnan(value->number.f);
}

void reduce_partial(struct reduce *reduce, const struct plan_agg *agg, const struct cell *value,
                    const struct cell *count, struct arena *arena)
{
    if (!is_number(value)) {
        return;
    }
    if (is_start(agg, value)) {
        reduce->started = true;
        return;
    }
    reduce->veiled = reduce->veiled || is_veil(agg, value);
    const struct cell *counted = agg->function == PLAN_COUNT ? value : count;
    take(reduce, agg, value, counted != NULL && is_number(counted) ? reduce_int_of(counted) : 0,
         arena);
}

static struct cell int_cell(int64_t value)
{
    return (struct cell){.kind = CELL_INT, .number.i = value};
}

static struct cell float_cell(double value)
{
    return (struct cell){.kind = CELL_FLOAT, .number.f = value};
}

static struct cell int_mean(const struct reduce *reduce, bool floor)
{
    if (reduce->count == 0) {
        return int_cell(0);
    }
    /* no quotient for the least int64 by -1, a count that only a broken node sends */
    int64_t mean = reduce->count == -1 ? (int64_t)(0 - (uint64_t)reduce->value.i)
                                       : reduce->value.i / reduce->count;
    return int_cell(floor && mean < 1 ? 1 : mean);
}

static struct cell float_mean(const struct reduce *reduce, bool floor)
{
    if (reduce->count == 0) {
        return float_cell(0);
    }
    double mean = exact_value(&reduce->value.sum) / (double)reduce->count;
    return float_cell(floor && mean < 1 ? 1 : mean); /* NaN stays */
}

struct cell reduce_result(const struct reduce *reduce, const struct plan_agg *agg)
{
    bool is_int = agg->type == PLAN_INT;
    switch (agg->function) {
    case PLAN_SUM:
        return is_int ? int_cell(reduce->value.i) : float_cell(exact_value(&reduce->value.sum));
    case PLAN_COUNT:
        return is_int ? int_cell(reduce->count) : float_cell((double)reduce->count);
    case PLAN_MIN:
    case PLAN_MAX:
        if (!reduce->has) {
            return (struct cell){.kind = CELL_NULL};
        }
        return is_int ? int_cell(reduce->value.i) : float_cell(reduce->value.f);
    case PLAN_MEAN:
        return is_int ? int_mean(reduce, agg->mean_floor) : float_mean(reduce, agg->mean_floor);
    }
    return (struct cell){.kind = CELL_NULL};
}
