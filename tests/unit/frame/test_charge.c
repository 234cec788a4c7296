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

START_TEST(all_tops_tell_one_number)
{
    atomic_size_t shared = 0;
    struct charge top = {.shared = &shared};
    struct charge other = {.shared = &shared};
    struct charge query = {.parent = &top};
    charge_add(&query, CHARGE_MESSAGE, 10);
    charge_add(&other, CHARGE_RESPONSE, 3 * CHARGE_STEP);
    ck_assert_uint_ge(shared, 10 + 3 * CHARGE_STEP);
    ck_assert_uint_le(shared, 10 + 3 * CHARGE_STEP + 2 * 2 * CHARGE_STEP);
    size_t before = shared;
    charge_resize(&query, CHARGE_MESSAGE, 10, 50);
    ck_assert_uint_eq(shared, before); /* within a step: nobody is told */
    charge_drop(&query, CHARGE_MESSAGE, 50);
    charge_drop(&other, CHARGE_RESPONSE, 3 * CHARGE_STEP);
    ck_assert_uint_eq(shared, 0);
}
END_TEST

START_TEST(room_is_promised_once)
{
    atomic_size_t shared = 0;
    const size_t limit = 10 * CHARGE_STEP;
    struct charge top = {.shared = &shared};
    struct charge query = {.parent = &top};
    struct charge other = {.shared = &shared};
    ck_assert(charge_room(&query, 6 * CHARGE_STEP, limit));
    ck_assert(!charge_room(&other, 6 * CHARGE_STEP, limit)); /* nothing of it is there yet */
    ck_assert_uint_eq(shared, 6 * CHARGE_STEP);
    charge_add(&query, CHARGE_MESSAGE, 6 * CHARGE_STEP);
    ck_assert_uint_eq(shared, 6 * CHARGE_STEP);
    ck_assert(charge_room(&other, 4 * CHARGE_STEP, limit));
    charge_drop(&query, CHARGE_MESSAGE, 6 * CHARGE_STEP);
    ck_assert(charge_room(&other, limit, limit));
    ck_assert(!charge_room(&other, SIZE_MAX / 2, limit));
    struct charge alone = {0};
    ck_assert(charge_room(&alone, SIZE_MAX / 2, limit));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("charge");
    TCase *tcase = tcase_create("charge");
    tcase_add_test(tcase, parents_sum_up);
    tcase_add_test(tcase, resize_moves_both_ways);
    tcase_add_test(tcase, none_counts_nothing);
    tcase_add_test(tcase, all_tops_tell_one_number);
    tcase_add_test(tcase, room_is_promised_once);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
