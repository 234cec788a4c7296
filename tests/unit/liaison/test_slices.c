// SPDX-License-Identifier: Apache-2.0
/* Whatever is cut and however it goes on: slices follow each other without a gap or a common
 * nanosecond, from the range's begin to its end. */
#include "liaison/query/slices.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

START_TEST(a_range_is_one_slice_at_first)
{
    static const int64_t ranges[][2] = {{0, 0}, {5, 1}, {-7, 900 * S}, {INT64_MIN, INT64_MAX}};
    for (size_t i = 0; i < 4; i++) {
        const struct slices slices = slices_of(ranges[i][0], ranges[i][1]);
        ck_assert_int_eq(slices.begin, ranges[i][0]);
        ck_assert_int_eq(slices.last, ranges[i][1]);
        ck_assert(slices_is_last(&slices));
    }
}
END_TEST

static const struct {
    int64_t begin;
    int64_t end;
    uint64_t parts;
    int64_t last; /* after the cut; that of the range: it cannot be cut */
} cuts[] = {
    {0, 10 * S, 2, 5 * S - 1},
    {0, 10 * S, 4, 2500 * MS - 1},
    {10 * S, 20 * S, 3, 13333 * MS - 1},
    {0, 10 * S, 1000000000, MS - 1},
    {0, 10 * S, UINT64_MAX, MS - 1},
    {0, MS, 2, MS - 1}, /* both ends are included: there are two milliseconds with rows */
    {0, MS - 1, 2, MS - 1},
    {0, 0, 2, 0},
    {5, 1, 2, 1},
    {999999, 1000000, 2, 999999},
    {999999, 5 * MS, 2, 2 * MS - 1},
    {7, 3 * MS, 3, MS - 1}, /* the first may begin anywhere: a schema can be that old */
    {-10 * S, 0, 2, -5 * S - 1},
    {-1, MS, 2, -1},
    {-1500000, 500000, 2, -1000001},
    {INT64_MIN, INT64_MAX, 2, -1000001},
    {INT64_MIN, INT64_MIN + 1, 2, INT64_MIN + 1},
    {INT64_MAX - 1, INT64_MAX, 2, INT64_MAX},
    {INT64_MAX - 2 * MS, INT64_MAX, UINT64_MAX, INT64_MAX - 1775808},
};

START_TEST(a_cut)
{
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct slices slices = slices_of(cuts[i].begin, cuts[i].end);
        const bool cut = slices_cut(&slices, cuts[i].parts);
        ck_assert_msg(slices.last == cuts[i].last && slices.begin == cuts[i].begin,
                      "cut %zu: ends at %lld", i, (long long)slices.last);
        ck_assert_int_eq(cut, cuts[i].last != cuts[i].end);
    }
}
END_TEST

static void go_on(struct slices *slices, double excess)
{
    slices_go_on(slices, slices_next_length(slices, excess));
}

START_TEST(the_next_one_is_sized_by_the_cost)
{
    static const struct {
        double excess;
        int64_t length; /* of the next one, in seconds */
    } table[] = {{1, 1}, {0.5, 2}, {1.0 / 7, 7}, {0.01, 8}, {0, 8}, {0.125, 8}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct slices slices = slices_of(0, 1000 * S);
        ck_assert(slices_cut(&slices, 1000));
        ck_assert_int_eq(slices.last, S - 1);
        go_on(&slices, table[i].excess);
        ck_assert_int_eq(slices.begin, S);
        /* of a whole number of milliseconds, and not longer than that */
        ck_assert_int_le(slices.last, S + table[i].length * S - 1);
        ck_assert_int_ge(slices.last, S + table[i].length * S - 2 * MS);
    }
    struct slices slices = slices_of(0, 1000 * S);
    ck_assert(slices_cut(&slices, 1000));
    go_on(&slices, 100);
    ck_assert_int_eq(slices.last, S + 9 * MS - 1);
}
END_TEST

START_TEST(the_last_one_ends_with_the_range)
{
    struct slices slices = slices_of(0, 10 * S);
    ck_assert(slices_cut(&slices, 2));
    ck_assert(!slices_is_last(&slices));
    go_on(&slices, 0.5);
    ck_assert_int_eq(slices.begin, 5 * S);
    ck_assert_int_eq(slices.last, 10 * S);
    ck_assert(slices_is_last(&slices));
}
END_TEST

static int64_t random_moment(uint64_t *state)
{
    static const int64_t around[] = {0, 1, -1, MS, INT64_MIN, INT64_MAX, 1796000000 * S};
    const int64_t base = around[random_below(state, 7)];
    const int64_t off = (int64_t)random_below(state, (uint64_t)20 * MS) - 10 * MS;
    return (int64_t)((uint64_t)base + (uint64_t)off);
}

/* Bounded, as a range of all time in slices of a millisecond has no end. */
static void walk(uint64_t *state, int64_t begin, int64_t end)
{
    struct slices slices = slices_of(begin, end);
    int64_t next = begin;
    for (int step = 0; step < 200; step++) {
        for (uint64_t cuts_left = random_below(state, 3); cuts_left > 0; cuts_left--) {
            const int64_t before = slices.last;
            if (slices_cut(&slices, 2 + random_below(state, 1000))) {
                ck_assert_int_lt(slices.last, before);
            }
        }
        ck_assert_int_eq(slices.begin, next);
        ck_assert_int_ge(slices.last, slices.begin);
        ck_assert_int_le(slices.last, end);
        if (slices_is_last(&slices)) {
            return;
        }
        next = slices.last + 1;
        ck_assert_int_eq(next % MS, 0);
        go_on(&slices, (double)random_below(state, 3000) / 1000);
    }
}

START_TEST(no_gap_and_nothing_twice)
{
    uint64_t state = (uint64_t)_i + 1;
    for (int round = 0; round < 200; round++) {
        const int64_t a = random_moment(&state);
        const int64_t b = random_moment(&state);
        walk(&state, a < b ? a : b, a < b ? b : a);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("slices");
    TCase *tcase = tcase_create("slices");
    tcase_add_test(tcase, a_range_is_one_slice_at_first);
    tcase_add_test(tcase, a_cut);
    tcase_add_test(tcase, the_next_one_is_sized_by_the_cost);
    tcase_add_test(tcase, the_last_one_ends_with_the_range);
    tcase_add_loop_test(tcase, no_gap_and_nothing_twice, 0, 20);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
