// SPDX-License-Identifier: Apache-2.0
/*
 * What a TopN request wants, and the numbers that its entities are ranked by.
 *
 * A number has the type of the schema's field. Of floats NaN is the worst in both directions and
 * all NaNs are one; -0 is below 0. So numbers have one order, and what is best does not depend on
 * which was seen first.
 */
#pragma once

#include "merge/plan.h"

struct topn_plan {
    struct plan_agg agg; /* what is answered of an entity's values; agg.field is not looked at */
    bool ascending;      /* the smallest values are the best */
    /* Every value counts, one for each time. Otherwise the best one alone: the function is then
     * taken over a single value. */
    bool every;
    uint64_t number; /* items to give; nothing is reserved by it */
};

/* The function of all values is the best of them: then one question over the whole range will do.
 */
static inline bool topn_plan_takes_best(const struct topn_plan *plan)
{
    return plan->agg.function == (plan->ascending ? PLAN_MIN : PLAN_MAX);
}

union topn_number {
    int64_t i; /* PLAN_INT */
    double f;  /* PLAN_FLOAT */
};

/* -1: a is the better one, 1: b is, 0: they are the same. */
int topn_plan_compare(const struct topn_plan *plan, union topn_number a, union topn_number b);
