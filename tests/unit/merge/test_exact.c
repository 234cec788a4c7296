// SPDX-License-Identifier: Apache-2.0
/* Sums that are right to the last bit, whatever the values and whatever their order. */
#include "merge/exact.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"

#include <float.h>
#include <math.h>

__extension__ typedef __float128 quad; /* 113 bits: exact for what is added up in it below */

static double sum_of(const double *values, size_t count)
{
    struct arena arena;
    struct exact sum = {0};
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    for (size_t i = 0; i < count; i++) {
        exact_add(&sum, values[i], &arena);
    }
    double value = exact_value(&sum);
    arena_fini(&arena);
    return value;
}

static void assert_same(double a, double b, size_t which)
{
    ck_assert_msg(isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0, "%zu: %a instead of %a",
                  which, b, a);
}

#define MOST 8

static const struct {
    size_t count;
    double values[MOST];
    double sum;
} known[] = {
    {0, {0}, 0},
    {1, {1}, 1},
    {1, {-0.0}, 0},
    {2, {0.1, 0.2}, 0.30000000000000004},
    {3, {1e100, 1, -1e100}, 1},
    {4, {1, 1e100, 1, -1e100}, 2},
    {3, {DBL_MAX, DBL_MAX, -DBL_MAX}, DBL_MAX},
    {2, {DBL_MAX, DBL_MAX}, INFINITY},
    {2, {-DBL_MAX, -DBL_MAX}, -INFINITY},
    {2, {DBL_MAX, 0x1p969}, DBL_MAX},
    {2, {DBL_MAX, 0x1p970}, INFINITY}, /* half a unit: to even, which is beyond */
    {3, {DBL_MAX, 0x1p970, -0x1p-1074}, DBL_MAX},
    {1, {0x1p-1074}, 0x1p-1074},
    {2, {0x1p-1074, 0x1p-1074}, 0x1p-1073},
    {2, {0x1p-1022, -0x1p-1074}, 0x0.fffffffffffffp-1022},
    {2, {1, 0x1p-53}, 1}, /* a tie: to even */
    {2, {1 + 0x1p-52, 0x1p-53}, 1 + 0x1p-51},
    {3, {1, 0x1p-53, 0x1p-1074}, 1 + 0x1p-52},
    {3, {1, 0x1p-53, -0x1p-1074}, 1},
    {3, {-1, -0x1p-53, -0x1p-1074}, -1 - 0x1p-52},
    {2, {1e300, -1e300}, 0},
    {2, {INFINITY, 1}, INFINITY},
    {2, {-INFINITY, DBL_MAX}, -INFINITY},
    {3, {INFINITY, 1, -INFINITY}, NAN},
    {2, {NAN, 1}, NAN},
    {2, {INFINITY, NAN}, NAN},
};

START_TEST(known_sums)
{
    double values[MOST] = {0};
    size_t count = known[_i].count;
    for (size_t turn = 0; turn < count + 1; turn++) {
        for (size_t i = 0; i < count; i++) {
            values[i] = known[_i].values[(i + turn) % count];
        }
        assert_same(known[_i].sum, sum_of(values, count), turn);
    }
}
END_TEST

/* Any bits but those of infinities and NaN; `spread` exponents below `high`. */
static double random_double(uint64_t *state, unsigned high, unsigned spread)
{
    uint64_t exponent = high - random_below(state, spread);
    uint64_t bits = (random_next(state) & ~(UINT64_C(0x7FF) << 52)) | exponent << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void shuffle(uint64_t *state, double *values, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = random_below(state, i);
        double value = values[i - 1];
        values[i - 1] = values[other];
        values[other] = value;
    }
}

START_TEST(sums_are_rounded_once)
{
    uint64_t state = (uint64_t)_i + 1;
    double values[100];
    for (size_t round = 0; round < 500; round++) {
        size_t count = 1 + random_below(&state, 100);
        unsigned high = 60 + (unsigned)random_below(&state, 1900);
        quad sum = 0;
        for (size_t i = 0; i < count; i++) { /* 53 + 50 + 7 bits */
            values[i] = random_double(&state, high, 50);
            sum += values[i];
        }
        assert_same((double)sum, sum_of(values, count), round);
    }
}
END_TEST

START_TEST(order_does_not_show)
{
    uint64_t state = (uint64_t)_i + 1;
    double values[200];
    for (size_t round = 0; round < 200; round++) {
        size_t count = 1 + random_below(&state, 200);
        for (size_t i = 0; i < count; i++) {
            values[i] = random_double(&state, 2046, 2047);
        }
        double sum = sum_of(values, count);
        for (int turn = 0; turn < 5; turn++) {
            shuffle(&state, values, count);
            assert_same(sum, sum_of(values, count), round);
        }
    }
}
END_TEST

START_TEST(many_additions_carry)
{
    struct arena arena;
    struct exact sum = {0};
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    sum.adds = (UINT32_C(1) << 30) - 3; /* as if so many had come */
    for (int i = 0; i < 4; i++) {
        exact_add(&sum, 0x1.fffffffffffffp31, &arena);
    }
    ck_assert_uint_eq(sum.adds, 1);
    assert_same(4 * 0x1.fffffffffffffp31, exact_value(&sum), 0);
    for (size_t i = 0; i < 1000000; i++) {
        exact_add(&sum, 0.1, &arena);
    }
    double tenth = 0.1;
    assert_same((double)((quad)tenth * 1000000 + (quad)(4 * 0x1.fffffffffffffp31)),
                exact_value(&sum), 1);
    arena_fini(&arena);
}
END_TEST

/* A highest limb that has become too great for its place moves up to a new one. */
START_TEST(carries_make_a_new_limb)
{
    struct arena arena;
    struct exact sum = {0};
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    exact_add(&sum, 1, &arena);
    size_t count = sum.count;
    for (size_t i = 0; i < count; i++) {
        sum.limbs[i] = (INT64_C(1) << 61);
    }
    double before = exact_value(&sum);
    sum.adds = (UINT32_C(1) << 30) - 1;
    exact_add(&sum, 0x1p-1000, &arena); /* widens downwards as well */
    ck_assert_uint_gt(sum.count, count);
    assert_same(before, exact_value(&sum), 0);
    for (size_t i = 0; i + 1 < sum.count; i++) {
        ck_assert(sum.limbs[i] >= 0 && sum.limbs[i] < INT64_C(1) << 32);
    }
    arena_fini(&arena);
}
END_TEST

START_TEST(memory_is_bounded)
{
    struct arena arena;
    struct exact sum = {0};
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    for (unsigned exponent = 2046; exponent > 0; exponent--) { /* the worst order to widen in */
        uint64_t bits = (uint64_t)exponent << 52;
        double value;
        memcpy(&value, &bits, sizeof value);
        exact_add(&sum, value, &arena);
    }
    ck_assert_uint_le(arena.capacity, 8192);
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge exact");
    TCase *tests = tcase_create("exact");
    tcase_add_loop_test(tests, known_sums, 0, sizeof known / sizeof *known);
    tcase_add_loop_test(tests, sums_are_rounded_once, 0, 8);
    tcase_add_loop_test(tests, order_does_not_show, 0, 8);
    tcase_add_test(tests, many_additions_carry);
    tcase_add_test(tests, carries_make_a_new_limb);
    tcase_add_test(tests, memory_is_bounded);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
