// SPDX-License-Identifier: Apache-2.0
#include "proto/moment.h"
#include "tests/unit/frame/unit.h"

static struct moment of(int64_t seconds, int32_t nanos)
{
    Google__Protobuf__Timestamp timestamp;
    google__protobuf__timestamp__init(&timestamp);
    timestamp.seconds = seconds;
    timestamp.nanos = nanos;
    return moment_of(&timestamp);
}

START_TEST(carries)
{
    static const struct {
        int64_t seconds;
        int32_t nanos;
        struct moment expected;
    } table[] = {
        {1, 5, {1, 5}},
        {1, -5, {0, 999999995}},
        {0, 2000000001, {2, 1}},
        {0, INT32_MIN, {-3, 852516352}},
        {INT64_MIN, -1, {INT64_MIN, 999999999}},
        {INT64_MAX, 1000000000, {INT64_MAX, 0}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct moment moment = of(table[i].seconds, table[i].nanos);
        ck_assert_msg(moment_compare(moment, table[i].expected) == 0, "row %zu", i);
    }
}
END_TEST

START_TEST(order)
{
    ck_assert_int_eq(moment_compare(of(1, 5), of(1, 5)), 0);
    ck_assert_int_eq(moment_compare(of(1, 5), of(1, 6)), -1);
    ck_assert_int_eq(moment_compare(of(2, 5), of(1, 6)), 1);
    ck_assert_int_eq(moment_compare(of(-1, 0), of(0, -999999999)), -1);
}
END_TEST

START_TEST(range)
{
    static const struct {
        int64_t seconds;
        int32_t nanos;
        bool fits;
    } table[] = {
        {0, 0, true},
        {9223372036, 854775807, true},
        {9223372036, 854775808, false},
        {9223372037, 0, false},
        {9223372037, -145224193, true},
        {-9223372037, 145224192, true},
        {-9223372037, 145224191, false},
        {-9223372036, -854775808, true},
        {253402300799, 0, false},
        {INT64_MIN, INT32_MIN, false},
        {INT64_MAX, INT32_MAX, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct moment moment = of(table[i].seconds, table[i].nanos);
        ck_assert_msg(moment_has_nanos(moment) == table[i].fits, "row %zu", i);
    }
}
END_TEST

START_TEST(nanoseconds)
{
    static const struct {
        int64_t seconds;
        int32_t nanos;
        int64_t nanoseconds;
    } table[] = {
        {0, 0, 0},
        {1, 5, 1000000005},
        {-1, 5, -999999995},
        {-1, 0, -1000000000},
        {9223372036, 854775807, INT64_MAX},
        {-9223372037, 145224192, INT64_MIN},
        {-9223372036, 0, -9223372036000000000},
        {253402300799, 0, INT64_MAX},
        {-253402300799, 0, INT64_MIN},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_int_eq(moment_nanos(of(table[i].seconds, table[i].nanos)), table[i].nanoseconds);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("moment");
    TCase *tcase = tcase_create("moment");
    tcase_add_test(tcase, carries);
    tcase_add_test(tcase, order);
    tcase_add_test(tcase, range);
    tcase_add_test(tcase, nanoseconds);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
