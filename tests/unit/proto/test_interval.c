// SPDX-License-Identifier: Apache-2.0
/* Durations as schemas spell them, and buckets at every edge. */
#include "proto/interval.h"
#include "tests/unit/frame/unit.h"

#define MINUTE INT64_C(60000000000)

START_TEST(durations)
{
    static const struct {
        const char *text;
        int64_t nanoseconds;
    } table[] = {
        {"1m", MINUTE},
        {"60s", MINUTE},
        {"1h30m", 90 * MINUTE},
        {"1d", 1440 * MINUTE},
        {"0.5h", 30 * MINUTE},
        {".5m", 30000000000},
        {"2.s", 2000000000},
        {"1.25s", 1250000000},
        {"10ms", 10000000},
        {"3us", 3000},
        {"3\xc2\xb5s", 3000},
        {"3\xce\xbcs", 3000},
        {"7ns", 7},
        {"0h1m", MINUTE},
        {"9223372036854775807ns", INT64_MAX},
        {"0.0000000000000000001s1ns", 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int64_t found = 0;
        ck_assert_msg(interval_parse(table[i].text, &found), "%s", table[i].text);
        ck_assert_int_eq(found, table[i].nanoseconds);
    }
}
END_TEST

START_TEST(no_durations)
{
    static const char *const table[] = {
        "",        "m",          "1",   "1x", "-1m",
        "+1m",     "1m ",        " 1m", ".s", "0s",
        "1m 1",    "1.",         "1w",  "1M", "9223372036854775808ns",
        "106752d", "106751d24h",
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int64_t found = 0;
        ck_assert_msg(!interval_parse(table[i], &found), "\"%s\"", table[i]);
    }
}
END_TEST

START_TEST(buckets)
{
    static const struct {
        int64_t begin;
        int64_t end;
        int64_t interval;
        int64_t first;
        uint64_t count;
    } table[] = {
        {0, 0, MINUTE, 0, 1},
        {1, MINUTE - 1, MINUTE, 0, 0},
        {1, MINUTE, MINUTE, MINUTE, 1},
        {MINUTE, MINUTE, MINUTE, MINUTE, 1},
        {MINUTE, 4 * MINUTE - 1, MINUTE, MINUTE, 3},
        {MINUTE, 4 * MINUTE, MINUTE, MINUTE, 4},
        {MINUTE, 0, MINUTE, 0, 0},
        {-MINUTE, -1, MINUTE, -MINUTE, 1},
        {-MINUTE + 1, 1, MINUTE, 0, 1},
        {-3 * MINUTE + 1, -1, MINUTE, -2 * MINUTE, 2},
        {INT64_MIN, INT64_MAX, 1, INT64_MIN, UINT64_MAX},
        {INT64_MIN, INT64_MIN, MINUTE, 0, 0},
        {INT64_MAX, INT64_MAX, MINUTE, 0, 0},
        {INT64_MIN, INT64_MAX, INT64_MAX, -INT64_MAX, 3},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct interval_buckets found =
            interval_buckets(table[i].begin, table[i].end, table[i].interval);
        ck_assert_msg(found.count == table[i].count, "row %zu: %llu", i,
                      (unsigned long long)found.count);
        ck_assert_int_eq(found.interval, table[i].interval);
        if (found.count > 0) {
            ck_assert_int_eq(found.first, table[i].first);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proto interval");
    TCase *tests = tcase_create("interval");
    tcase_add_test(tests, durations);
    tcase_add_test(tests, no_durations);
    tcase_add_test(tests, buckets);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
