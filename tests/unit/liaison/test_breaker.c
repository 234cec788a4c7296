// SPDX-License-Identifier: Apache-2.0
/* Five failures in a row open it; what closes it depends on what its probes said meanwhile. */
#include "liaison/cluster/breaker.h"
#include "tests/unit/frame/unit.h"

static struct breaker opened(void)
{
    struct breaker breaker = {0};
    while (!breaker_failed(&breaker)) {
    }
    return breaker;
}

START_TEST(opens_at_the_fifth_failure_in_a_row)
{
    struct breaker breaker = {0};
    for (int i = 0; i < 4; i++) {
        ck_assert(!breaker_failed(&breaker));
    }
    ck_assert(breaker_failed(&breaker));
    ck_assert(!breaker_failed(&breaker)); /* it is open already */
    ck_assert_int_eq(breaker.state, BREAKER_OPEN);
}
END_TEST

START_TEST(a_success_between_starts_anew)
{
    struct breaker breaker = {0};
    for (int i = 0; i < 20; i++) {
        ck_assert(!breaker_failed(&breaker));
        ck_assert(!breaker_failed(&breaker));
        breaker_worked(&breaker);
    }
}
END_TEST

START_TEST(half_open_gives_one_chance)
{
    struct breaker breaker = opened();
    breaker_probe_worked(&breaker);
    ck_assert_int_eq(breaker.state, BREAKER_HALF_OPEN);
    ck_assert(breaker_failed(&breaker));
    breaker_probe_worked(&breaker);
    breaker_worked(&breaker);
    ck_assert_int_eq(breaker.state, BREAKER_CLOSED);
    ck_assert(!breaker_failed(&breaker));
}
END_TEST

START_TEST(a_node_that_was_away_is_back)
{
    struct breaker breaker = opened();
    breaker_probe_failed(&breaker);
    ck_assert_int_eq(breaker.state, BREAKER_OPEN);
    breaker_probe_worked(&breaker);
    ck_assert_int_eq(breaker.state, BREAKER_CLOSED);
    ck_assert(!breaker_failed(&breaker));
}
END_TEST

START_TEST(a_late_answer_does_not_close_it)
{
    struct breaker breaker = opened();
    breaker_worked(&breaker);
    ck_assert_int_eq(breaker.state, BREAKER_OPEN);
}
END_TEST

START_TEST(probes_of_a_closed_one_change_nothing)
{
    struct breaker breaker = {0};
    ck_assert(!breaker_failed(&breaker));
    breaker_probe_worked(&breaker);
    breaker_probe_failed(&breaker);
    ck_assert_int_eq(breaker.failures, 1);
    ck_assert_str_eq(breaker_name(&breaker), "closed");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("breaker");
    TCase *tcase = tcase_create("breaker");
    tcase_add_test(tcase, opens_at_the_fifth_failure_in_a_row);
    tcase_add_test(tcase, a_success_between_starts_anew);
    tcase_add_test(tcase, half_open_gives_one_chance);
    tcase_add_test(tcase, a_node_that_was_away_is_back);
    tcase_add_test(tcase, a_late_answer_does_not_close_it);
    tcase_add_test(tcase, probes_of_a_closed_one_change_nothing);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
