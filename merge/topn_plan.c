// SPDX-License-Identifier: Apache-2.0
#include "merge/topn_plan.h"

#include <math.h>

static int compare_ints(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* Neither is NaN. Zeros differ by their signs alone. */
static int compare_floats(double a, double b)
{
    if (a == b) {
        return (signbit(b) != 0) - (signbit(a) != 0);
    }
    return a < b ? -1 : 1;
}

int topn_plan_compare(const struct topn_plan *plan, union topn_number a, union topn_number b)
{
    bool is_float = plan->agg.type == PLAN_FLOAT;
    if (is_float && (isnan(a.f) || isnan(b.f))) {
        return (isnan(a.f) != 0) - (isnan(b.f) != 0);
    }
    int order = is_float ? compare_floats(a.f, b.f) : compare_ints(a.i, b.i);
    return plan->ascending ? order : -order;
}
