// SPDX-License-Identifier: Apache-2.0
/* Timers: in order, not before their time, restarted and stopped. */
#include "liaison/container_of.h"
#include "liaison/loop.h"
#include "tests/unit/frame/unit.h"

#include <string.h>
#include <time.h>

static struct loop *loop;
static char order[100];

struct alarm {
    struct loop_timer timer;
    char letter;
    uint64_t fired_at;
};

static uint64_t clock_ns(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

static void on_alarm(struct loop_timer *timer)
{
    struct alarm *alarm = container_of(timer, struct alarm, timer);
    const size_t len = strlen(order);
    order[len] = alarm->letter;
    order[len + 1] = '\0';
    alarm->fired_at = clock_ns();
    if (alarm->letter == 'z') {
        loop_stop(loop);
    }
}

static struct alarm *alarm_new(char letter, uint64_t delay_ms)
{
    struct alarm *alarm = calloc(1, sizeof *alarm);
    alarm->letter = letter;
    loop_timer_init(&alarm->timer, loop, on_alarm);
    loop_timer_start(&alarm->timer, delay_ms);
    return alarm;
}

static void alarm_free(struct alarm *alarm)
{
    loop_timer_fini(&alarm->timer);
    free(alarm);
}

static void setup(void)
{
    loop = loop_new("test");
    order[0] = '\0';
}

static void teardown(void)
{
    loop_free(&loop);
}

START_TEST(they_fire_in_order_and_never_early)
{
    const uint64_t begin = loop_now(loop);
    struct alarm *z = alarm_new('z', 60);
    struct alarm *b = alarm_new('b', 31);
    struct alarm *a = alarm_new('a', 7);
    struct alarm *now = alarm_new('0', 0);
    loop_run(loop);
    ck_assert_str_eq(order, "0abz");
    ck_assert_uint_ge(a->fired_at - begin, 7000000);
    ck_assert_uint_ge(b->fired_at - begin, 31000000);
    ck_assert_uint_ge(z->fired_at - begin, 60000000);
    alarm_free(z);
    alarm_free(b);
    alarm_free(a);
    alarm_free(now);
}
END_TEST

START_TEST(they_are_restarted_and_stopped)
{
    struct alarm *z = alarm_new('z', 50);
    struct alarm *earlier = alarm_new('e', 100000);
    struct alarm *later = alarm_new('l', 1);
    struct alarm *stopped = alarm_new('s', 5);
    loop_timer_start(&earlier->timer, 5);
    loop_timer_start(&later->timer, 20);
    loop_timer_stop(&stopped->timer);
    ck_assert(!loop_timer_is_running(&stopped->timer));
    ck_assert(loop_timer_is_running(&later->timer));
    loop_run(loop);
    ck_assert_str_eq(order, "elz");
    ck_assert(!loop_timer_is_running(&later->timer));
    alarm_free(z);
    alarm_free(earlier);
    alarm_free(later);
    alarm_free(stopped);
}
END_TEST

START_TEST(far_away_and_in_the_past)
{
    struct alarm *z = alarm_new('z', 20);
    struct alarm *never = alarm_new('n', UINT64_MAX);
    struct alarm *end = alarm_new('e', 1);
    struct alarm *past = alarm_new('p', 1000);
    loop_timer_start_at(&end->timer, UINT64_MAX);
    loop_timer_start_at(&past->timer, 1);
    loop_run(loop);
    ck_assert_str_eq(order, "pz");
    alarm_free(z);
    alarm_free(never);
    alarm_free(end);
    alarm_free(past);
}
END_TEST

START_TEST(an_unused_timer_holds_nothing)
{
    struct loop_timer timer;
    loop_timer_init(&timer, loop, on_alarm);
    ck_assert(!loop_timer_is_running(&timer));
    loop_timer_stop(&timer);
    loop_timer_fini(&timer);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("loop_timer");
    TCase *cases = tcase_create("loop_timer");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, they_fire_in_order_and_never_early);
    tcase_add_test(cases, they_are_restarted_and_stopped);
    tcase_add_test(cases, far_away_and_in_the_past);
    tcase_add_test(cases, an_unused_timer_holds_nothing);
    suite_add_tcase(suite, cases);
    return unit_run(suite);
}
