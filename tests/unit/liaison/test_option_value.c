// SPDX-License-Identifier: Apache-2.0
/* Values as Go's flag library reads them. */
#include "liaison/options/option_value.h"
#include "tests/unit/frame/unit.h"

#define SECOND INT64_C(1000000000)

START_TEST(durations)
{
    static const struct {
        const char *text;
        int64_t nanoseconds;
    } good[] = {
        {"0", 0},
        {"0s", 0},
        {"15s", 15 * SECOND},
        {"1m30s", 90 * SECOND},
        {"2h", 7200 * SECOND},
        {"500ms", SECOND / 2},
        {"250us", 250000},
        {"250µs", 250000},
        {"1ns", 1},
        {"1.5s", SECOND * 3 / 2},
        {".5s", SECOND / 2},
        {"1.s", SECOND},
        {"-10s", -10 * SECOND},
        {"+1m", 60 * SECOND},
        {"1h1m1s1ms", 3661 * SECOND + 1000000},
    };
    static const char *const bad[] = {"",     "15",   "s",    "1x",         "1 s",  "1s ",
                                      "1e3s", "--1s", "1m30", "999999999h", "0x1s", ".s"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t value = -1;
        ck_assert_msg(option_value_duration(good[i].text, &value), "%s", good[i].text);
        ck_assert_int_eq(value, good[i].nanoseconds);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t value = -1;
        ck_assert_msg(!option_value_duration(bad[i], &value), "%s", bad[i]);
        ck_assert_int_eq(value, -1);
    }
}
END_TEST

START_TEST(sizes)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        {"0", 0},
        {"4096", 4096},
        {"16MiB", 16 << 20},
        {"10MB", 10000000},
        {"1K", 1000},
        {"1Ki", 1024},
        {"1KiB", 1024},
        {"2GiB", UINT64_C(2) << 30},
        {"1.5MiB", 3 << 19},
        {"16mib", 16 << 20},
        {"5B", 5},
        {"10 MB", 10000000},
    };
    static const char *const bad[] = {"", "MiB", "1XB", "-1", "1MiB2", "1e3", "99999999TiB"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint64_t value = 1;
        ck_assert_msg(option_value_size(good[i].text, &value), "%s", good[i].text);
        ck_assert_uint_eq(value, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t value = 1;
        ck_assert_msg(!option_value_size(bad[i], &value), "%s", bad[i]);
    }
}
END_TEST

START_TEST(numbers_and_truths)
{
    bool truth = false;
    int64_t number = 0;
    uint16_t port = 0;
    double ratio = 0;
    ck_assert(option_value_bool("true", &truth) && truth);
    ck_assert(option_value_bool("F", &truth) && !truth);
    ck_assert(!option_value_bool("yes", &truth));
    ck_assert(option_value_int("-12", &number) && number == -12);
    ck_assert(option_value_int("0x10", &number) && number == 16);
    ck_assert(!option_value_int("12a", &number) && !option_value_int("", &number));
    ck_assert(!option_value_int(" 1", &number));
    ck_assert(!option_value_int("99999999999999999999", &number));
    ck_assert(option_value_port("65535", &port) && port == 65535);
    ck_assert(!option_value_port("65536", &port) && !option_value_port("-1", &port));
    ck_assert(option_value_ratio("0.25", &ratio) && ratio == 0.25);
    ck_assert(!option_value_ratio("nan", &ratio) && !option_value_ratio("inf", &ratio));
}
END_TEST

START_TEST(choices)
{
    bool later = false;
    ck_assert_int_eq(option_value_choice("exact|rows|!pushdown", "exact", &later), 0);
    ck_assert(!later);
    ck_assert_int_eq(option_value_choice("exact|rows|!pushdown", "pushdown", &later), 2);
    ck_assert(later);
    ck_assert_int_eq(option_value_choice("exact|rows", "row", &later), -1);
    ck_assert_int_eq(option_value_choice("exact|rows", "", &later), -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("option_value");
    TCase *tcase = tcase_create("option_value");
    tcase_add_test(tcase, durations);
    tcase_add_test(tcase, sizes);
    tcase_add_test(tcase, numbers_and_truths);
    tcase_add_test(tcase, choices);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
