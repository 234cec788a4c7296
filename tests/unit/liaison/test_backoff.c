// SPDX-License-Identifier: Apache-2.0
/* Waits grow to their maximum, jitter stays within its bounds and is not always the same. */
#include "liaison/cluster/backoff.h"
#include "tests/unit/frame/unit.h"

START_TEST(grows_and_stops_at_the_maximum)
{
    static const uint64_t expected[] = {200, 400, 800, 1600, 3200, 5000, 5000};
    struct backoff backoff = {.first_ms = 200, .max_ms = 5000, .factor = 2};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        ck_assert_uint_eq(backoff_next(&backoff), expected[i]);
    }
    backoff_reset(&backoff);
    ck_assert_uint_eq(backoff_next(&backoff), 200);
}
END_TEST

START_TEST(factor_one_never_grows)
{
    struct backoff backoff = {.first_ms = 1000, .max_ms = 5000, .factor = 1};
    for (int i = 0; i < 10; i++) {
        ck_assert_uint_eq(backoff_next(&backoff), 1000);
    }
}
END_TEST

START_TEST(jitter_swings_both_ways_within_bounds)
{
    struct backoff backoff = {
        .first_ms = 1000, .max_ms = 1000000, .factor = 1, .jitter_percent = 20, .seed = 42};
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    for (int i = 0; i < 1000; i++) {
        const uint64_t wait = backoff_next(&backoff);
        ck_assert_uint_ge(wait, 800);
        ck_assert_uint_le(wait, 1200);
        least = wait < least ? wait : least;
        most = wait > most ? wait : most;
    }
    ck_assert_uint_lt(least, 850);
    ck_assert_uint_gt(most, 1150);
}
END_TEST

START_TEST(jitter_never_passes_the_maximum)
{
    struct backoff backoff = {
        .first_ms = 20000, .max_ms = 20000, .factor = 2, .jitter_percent = 20, .seed = 7};
    for (int i = 0; i < 1000; i++) {
        ck_assert_uint_le(backoff_next(&backoff), 20000);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backoff");
    TCase *tcase = tcase_create("backoff");
    tcase_add_test(tcase, grows_and_stops_at_the_maximum);
    tcase_add_test(tcase, factor_one_never_grows);
    tcase_add_test(tcase, jitter_swings_both_ways_within_bounds);
    tcase_add_test(tcase, jitter_never_passes_the_maximum);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
