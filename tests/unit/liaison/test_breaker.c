// SPDX-License-Identifier: Apache-2.0
/* Five failures in a row open it, one is enough when it is half open, a success closes it. */
#include "liaison/cluster/breaker.h"
#include "tests/unit/frame/unit.h"

START_TEST(opens_at_the_fifth_failure_in_a_row)
{
    struct breaker breaker = {0};
    for (int i = 0; i < 4; i++) {
        ck_assert(!breaker_failed(&breaker));
    }
    ck_assert(breaker_failed(&breaker));
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
    struct breaker breaker = {0};
    breaker_half_open(&breaker);
    ck_assert(breaker_failed(&breaker));
    breaker_half_open(&breaker);
    breaker_worked(&breaker);
    ck_assert(!breaker_failed(&breaker));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("breaker");
    TCase *tcase = tcase_create("breaker");
    tcase_add_test(tcase, opens_at_the_fifth_failure_in_a_row);
    tcase_add_test(tcase, a_success_between_starts_anew);
    tcase_add_test(tcase, half_open_gives_one_chance);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
