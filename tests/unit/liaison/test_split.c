// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/split.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"

START_TEST(what_a_slice_is_meant_to_cost)
{
    static const struct {
        struct split split;
        size_t aim;
        size_t spare;
    } table[] = {
        {{.budget = 2400}, 400, 1600},
        {{.budget = 2400, .alone = true}, 600, 0},
        {{.budget = 2400, .kept = 600}, 400, 1000},
        {{.budget = 2400, .kept = 1500}, 300, 300},
        {{.budget = 2400, .kept = 1500, .alone = true}, 300, 0},
        {{.budget = 2400, .least = 700}, 700, 1000},
        {{.budget = 2400, .kept = 1500, .least = 700}, 700, 0},
        {{.budget = 2400, .kept = 2400}, 0, 0},
        {{.budget = 2400, .kept = 9999}, 0, 0},
        {{.budget = 2400, .kept = 9999, .least = 5}, 5, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_uint_eq(split_aim(&table[i].split), table[i].aim);
        ck_assert_uint_eq(split_spare(&table[i].split), table[i].spare);
    }
}
END_TEST

/* Whatever is kept: a slice may cost twice its aim, and those ahead their share, all at once. */
START_TEST(all_of_it_fits)
{
    uint64_t state = 1;
    for (int i = 0; i < 100000; i++) {
        const struct split split = {
            .budget = random_below(&state, 1 << 20),
            .kept = random_below(&state, 1 << 20),
            .alone = random_below(&state, 2) == 1,
        };
        const size_t room = split_room(&split);
        ck_assert_uint_le(2 * split_aim(&split) + split_spare(&split), room);
        ck_assert(room == 0 || split.kept + room == split.budget);
    }
}
END_TEST

START_TEST(groups_that_take_all)
{
    struct split split = {.budget = 6400};
    ck_assert(!split_is_spent(&split));
    split.kept = 6400 - 300; /* an aim of 100, a sixteenth of a quarter */
    ck_assert(!split_is_spent(&split));
    split.kept++;
    ck_assert(split_is_spent(&split));
    split.least = 100; /* one that was there all the same */
    ck_assert(!split_is_spent(&split));
}
END_TEST

START_TEST(how_many_are_ahead)
{
    ck_assert_uint_eq(split_ahead(1600, 400), 4);
    ck_assert_uint_eq(split_ahead(1599, 400), 3);
    ck_assert_uint_eq(split_ahead(0, 400), 0);
    ck_assert_uint_eq(split_ahead(1600, 0), 0);
    const struct split alone = {.budget = 2400, .alone = true};
    ck_assert_uint_eq(split_ahead(split_spare(&alone), 1), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("split");
    TCase *tcase = tcase_create("split");
    tcase_add_test(tcase, what_a_slice_is_meant_to_cost);
    tcase_add_test(tcase, all_of_it_fits);
    tcase_add_test(tcase, groups_that_take_all);
    tcase_add_test(tcase, how_many_are_ahead);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
