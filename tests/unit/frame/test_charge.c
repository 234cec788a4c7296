// SPDX-License-Identifier: Apache-2.0
/* Charges: a parent is the sum of its children, the peak is the greatest total. */
#include "frame/charge.h"
#include "tests/unit/frame/unit.h"

START_TEST(parents_sum_up)
{
    struct charge executor = {0};
    struct charge a = {.parent = &executor};
    struct charge b = {.parent = &executor};
    charge_add(&a, CHARGE_MESSAGE, 100);
    charge_add(&b, CHARGE_MESSAGE, 30);
    charge_add(&b, CHARGE_REGION, 7);
    ck_assert_uint_eq(a.total, 100);
    ck_assert_uint_eq(b.total, 37);
    ck_assert_uint_eq(executor.total, 137);
    ck_assert_uint_eq(executor.bytes[CHARGE_MESSAGE], 130);
    ck_assert_uint_eq(executor.count[CHARGE_MESSAGE], 2);
    charge_drop(&a, CHARGE_MESSAGE, 100);
    charge_drop(&b, CHARGE_MESSAGE, 30);
    charge_drop(&b, CHARGE_REGION, 7);
    ck_assert_uint_eq(executor.total, 0);
    ck_assert_uint_eq(executor.count[CHARGE_MESSAGE], 0);
    ck_assert_uint_eq(executor.peak, 137);
}
END_TEST

START_TEST(resize_moves_both_ways)
{
    struct charge parent = {0};
    struct charge charge = {.parent = &parent};
    charge_add(&charge, CHARGE_RESPONSE, 10);
    charge_resize(&charge, CHARGE_RESPONSE, 10, 50);
    charge_resize(&charge, CHARGE_RESPONSE, 50, 20);
    ck_assert_uint_eq(charge.total, 20);
    ck_assert_uint_eq(charge.peak, 50);
    ck_assert_uint_eq(parent.bytes[CHARGE_RESPONSE], 20);
    ck_assert_uint_eq(charge.count[CHARGE_RESPONSE], 1);
    charge_drop(&charge, CHARGE_RESPONSE, 20);
    ck_assert_uint_eq(parent.total, 0);
}
END_TEST

START_TEST(none_counts_nothing)
{
    charge_add(NULL, CHARGE_WIRE, 5);
    charge_resize(NULL, CHARGE_WIRE, 5, 6);
    charge_drop(NULL, CHARGE_WIRE, 6);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("charge");
    TCase *tcase = tcase_create("charge");
    tcase_add_test(tcase, parents_sum_up);
    tcase_add_test(tcase, resize_moves_both_ways);
    tcase_add_test(tcase, none_counts_nothing);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
