// SPDX-License-Identifier: Apache-2.0
/* What totals come to, value by value and partial by partial. */
#include "merge/reduce.h"
#include "tests/unit/frame/unit.h"

#include <float.h>
#include <math.h>

#define N                                                                                          \
    {                                                                                              \
        .kind = CELL_NULL                                                                          \
    }
#define I(value)                                                                                   \
    {                                                                                              \
        .kind = CELL_INT, .number.i = (value)                                                      \
    }
#define F(value)                                                                                   \
    {                                                                                              \
        .kind = CELL_FLOAT, .number.f = (value)                                                    \
    }
#define S                                                                                          \
    {                                                                                              \
        .kind = CELL_STRING                                                                        \
    }
#define MOST 5

struct example {
    const char *name;
    enum plan_function function;
    enum plan_type type;
    bool no_floor;
    size_t count;
    struct cell values[MOST];
    struct cell counts[MOST]; /* partials of MEAN */
    struct cell result;
};

static const struct example of_values[] = {
    {"sum", PLAN_SUM, PLAN_INT, false, 3, {I(1), I(2), I(-7)}, {N}, I(-4)},
    {"sum wraps", PLAN_SUM, PLAN_INT, false, 2, {I(INT64_MAX), I(1)}, {N}, I(INT64_MIN)},
    {"sum of nothing", PLAN_SUM, PLAN_INT, false, 0, {N}, {N}, I(0)},
    {"sum of nulls", PLAN_SUM, PLAN_FLOAT, false, 2, {N, N}, {N}, F(0)},
    {"sum of text", PLAN_SUM, PLAN_INT, false, 2, {S, I(3)}, {N}, I(3)},
    {"sum of floats", PLAN_SUM, PLAN_FLOAT, false, 3, {F(1e100), F(1), F(-1e100)}, {N}, F(1)},
    {"sum of promoted ints", PLAN_SUM, PLAN_FLOAT, false, 2, {I(1), F(0.5)}, {N}, F(1.5)},
    {"sum of whole parts", PLAN_SUM, PLAN_INT, false, 3, {F(1.9), F(-1.9), I(1)}, {N}, I(1)},
    {"whole parts have ends", PLAN_MAX, PLAN_INT, false, 1, {F(1e30)}, {N}, I(INT64_MAX)},
    {"whole parts have starts", PLAN_MIN, PLAN_INT, false, 1, {F(-1e30)}, {N}, I(INT64_MIN)},
    {"sum with NaN", PLAN_SUM, PLAN_FLOAT, false, 2, {F(NAN), F(1)}, {N}, F(NAN)},
    {"count", PLAN_COUNT, PLAN_INT, false, 4, {I(1), N, I(5), S}, {N}, I(2)},
    {"count of floats", PLAN_COUNT, PLAN_FLOAT, false, 3, {F(1), N, F(NAN)}, {N}, F(2)},
    {"count of nulls", PLAN_COUNT, PLAN_INT, false, 1, {N}, {N}, I(0)},
    {"min", PLAN_MIN, PLAN_INT, false, 3, {I(4), I(-2), N}, {N}, I(-2)},
    {"min of nulls", PLAN_MIN, PLAN_INT, false, 2, {N, N}, {N}, N},
    {"min is the greatest", PLAN_MIN, PLAN_INT, false, 1, {I(INT64_MAX)}, {N}, I(INT64_MAX)},
    {"max", PLAN_MAX, PLAN_INT, false, 3, {I(-4), I(-2), N}, {N}, I(-2)},
    {"max of nulls", PLAN_MAX, PLAN_FLOAT, false, 1, {N}, {N}, N},
    {"max is the least", PLAN_MAX, PLAN_FLOAT, false, 1, {F(-DBL_MAX)}, {N}, F(-DBL_MAX)},
    {"max -inf", PLAN_MAX, PLAN_FLOAT, false, 1, {F(-INFINITY)}, {N}, F(-INFINITY)},
    {"min passes NaN", PLAN_MIN, PLAN_FLOAT, false, 3, {F(NAN), F(3), F(NAN)}, {N}, F(3)},
    {"max passes NaN", PLAN_MAX, PLAN_FLOAT, false, 2, {F(3), F(NAN)}, {N}, F(3)},
    {"min of NaN", PLAN_MIN, PLAN_FLOAT, false, 2, {F(NAN), F(NAN)}, {N}, F(NAN)},
    {"min of zeros", PLAN_MIN, PLAN_FLOAT, false, 3, {F(0.0), F(-0.0), F(0.0)}, {N}, F(-0.0)},
    {"max of zeros", PLAN_MAX, PLAN_FLOAT, false, 3, {F(-0.0), F(0.0), F(-0.0)}, {N}, F(0.0)},
    {"mean", PLAN_MEAN, PLAN_INT, false, 3, {I(5), I(6), N}, {N}, I(5)},
    {"mean towards zero", PLAN_MEAN, PLAN_INT, true, 2, {I(-5), I(-6)}, {N}, I(-5)},
    {"mean below 1", PLAN_MEAN, PLAN_INT, false, 2, {I(-5), I(-6)}, {N}, I(1)},
    {"mean of nulls", PLAN_MEAN, PLAN_INT, false, 1, {N}, {N}, I(0)},
    {"mean of null floats", PLAN_MEAN, PLAN_FLOAT, false, 1, {N}, {N}, F(0)},
    {"mean of floats", PLAN_MEAN, PLAN_FLOAT, false, 2, {F(1.5), F(2)}, {N}, F(1.75)},
    {"mean of small floats", PLAN_MEAN, PLAN_FLOAT, false, 2, {F(0.25), F(0.25)}, {N}, F(1)},
    {"and as it is", PLAN_MEAN, PLAN_FLOAT, true, 2, {F(0.25), F(0.25)}, {N}, F(0.25)},
    {"mean with NaN", PLAN_MEAN, PLAN_FLOAT, false, 2, {F(NAN), F(0.25)}, {N}, F(NAN)},
};

static const struct example of_partials[] = {
    {"sum", PLAN_SUM, PLAN_INT, false, 3, {I(1), N, I(4)}, {N}, I(5)},
    {"count", PLAN_COUNT, PLAN_INT, false, 2, {I(3), I(4)}, {N}, I(7)},
    {"count of floats", PLAN_COUNT, PLAN_FLOAT, false, 2, {F(2), F(3)}, {N}, F(5)},
    {"count read by variant", PLAN_COUNT, PLAN_FLOAT, false, 2, {I(2), F(3)}, {N}, F(5)},
    {"min", PLAN_MIN, PLAN_INT, false, 2, {I(INT64_MAX), I(9)}, {N}, I(9)},
    {"min of nulls", PLAN_MIN, PLAN_INT, false, 2, {I(INT64_MAX), I(INT64_MAX)}, {N}, N},
    {"max of nulls", PLAN_MAX, PLAN_INT, false, 1, {I(INT64_MIN)}, {N}, N},
    {"min of null floats", PLAN_MIN, PLAN_FLOAT, false, 1, {F(DBL_MAX)}, {N}, N},
    {"max of null floats", PLAN_MAX, PLAN_FLOAT, false, 2, {F(-DBL_MAX), F(-7)}, {N}, F(-7)},
    {"the other end is data", PLAN_MAX, PLAN_INT, false, 1, {I(INT64_MAX)}, {N}, I(INT64_MAX)},
    {"a sum is no start", PLAN_SUM, PLAN_INT, false, 1, {I(INT64_MAX)}, {N}, I(INT64_MAX)},
    {"mean", PLAN_MEAN, PLAN_INT, false, 2, {I(7), I(4)}, {I(2), I(3)}, I(2)},
    {"mean of none", PLAN_MEAN, PLAN_INT, false, 1, {I(0)}, {I(0)}, I(0)},
    {"mean of a third", PLAN_MEAN, PLAN_INT, false, 1, {I(1)}, {I(3)}, I(1)},
    {"mean without counts", PLAN_MEAN, PLAN_INT, false, 2, {I(7), I(9)}, {N, N}, I(0)},
    {"null takes its count along", PLAN_MEAN, PLAN_INT, false, 2, {N, I(8)}, {I(2), I(2)}, I(4)},
    {"counts as floats", PLAN_MEAN, PLAN_FLOAT, false, 2, {F(1), F(4)}, {F(1), F(1)}, F(2.5)},
    {"a broken count", PLAN_MEAN, PLAN_INT, true, 1, {I(INT64_MIN)}, {I(-1)}, I(INT64_MIN)},
};

static void check(const struct example *example, bool partials)
{
    const struct plan_agg agg = {
        .function = example->function, .type = example->type, .mean_floor = !example->no_floor};
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    for (size_t turn = 0; turn <= example->count; turn++) {
        struct reduce reduce = {0};
        for (size_t i = 0; i < example->count; i++) {
            size_t at = (i + turn) % example->count;
            if (partials) {
                bool mean = example->function == PLAN_MEAN;
                reduce_partial(&reduce, &agg, &example->values[at],
                               mean ? &example->counts[at] : NULL, &arena);
            } else {
                reduce_value(&reduce, &agg, &example->values[at], &arena);
            }
        }
        struct cell result = reduce_result(&reduce, &agg);
        ck_assert_msg(result.kind == example->result.kind, "%s: kind %d", example->name,
                      result.kind);
        bool both_nan =
            result.kind == CELL_FLOAT && isnan(result.number.f) && isnan(example->result.number.f);
        ck_assert_msg(result.kind == CELL_NULL || both_nan ||
                          memcmp(&result.number, &example->result.number, 8) == 0,
                      "%s: %lld, or %g", example->name, (long long)result.number.i,
                      result.number.f);
    }
    arena_fini(&arena);
}

START_TEST(totals_of_values)
{
    check(&of_values[_i], false);
}
END_TEST

START_TEST(totals_of_partials)
{
    check(&of_partials[_i], true);
}
END_TEST

/* Rows are asked for when partials do not tell what there is, and only then. */
START_TEST(only_rows_would_tell)
{
    static const struct {
        enum plan_function function;
        enum plan_type type;
        struct cell values[2];
        bool open;
    } table[] = {
        {PLAN_MIN, PLAN_INT, {I(INT64_MAX), N}, true},
        {PLAN_MIN, PLAN_INT, {I(INT64_MAX), I(7)}, false},
        {PLAN_MIN, PLAN_INT, {I(INT64_MIN), N}, false},
        {PLAN_MAX, PLAN_INT, {I(INT64_MIN), I(INT64_MIN)}, true},
        {PLAN_MAX, PLAN_FLOAT, {F(-DBL_MAX), N}, true},
        {PLAN_MAX, PLAN_FLOAT, {F(-DBL_MAX), F(-INFINITY)}, false},
        {PLAN_MIN, PLAN_FLOAT, {F(DBL_MAX), F(0)}, false},
        {PLAN_MIN, PLAN_FLOAT, {F(NAN), F(0)}, true}, /* what the first node saw after it? */
        {PLAN_MAX, PLAN_FLOAT, {F(3), F(4)}, false},
        {PLAN_SUM, PLAN_FLOAT, {F(NAN), F(DBL_MAX)}, false},
        {PLAN_COUNT, PLAN_INT, {I(INT64_MAX), N}, false},
        {PLAN_MIN, PLAN_INT, {N, N}, false},
    };
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    for (size_t i = 0; i < 2 * (sizeof table / sizeof *table); i++) {
        const struct plan_agg agg = {.function = table[i / 2].function, .type = table[i / 2].type};
        struct reduce reduce = {0};
        reduce_partial(&reduce, &agg, &table[i / 2].values[i % 2], NULL, &arena);
        reduce_partial(&reduce, &agg, &table[i / 2].values[1 - i % 2], NULL, &arena);
        ck_assert_msg(reduce_is_open(&reduce) == table[i / 2].open, "row %zu", i / 2);
    }
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge reduce");
    TCase *tests = tcase_create("reduce");
    tcase_add_loop_test(tests, totals_of_values, 0, sizeof of_values / sizeof *of_values);
    tcase_add_loop_test(tests, totals_of_partials, 0, sizeof of_partials / sizeof *of_partials);
    tcase_add_test(tests, only_rows_would_tell);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
