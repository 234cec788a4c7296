// SPDX-License-Identifier: Apache-2.0
/* The order of a turn, tasks from other threads, and the reap list. */
#include "liaison/container_of.h"
#include "liaison/loop.h"
#include "tests/unit/frame/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static struct loop *loop;
static char order[100];

static void setup(void)
{
    loop = loop_new("test");
    order[0] = '\0';
}

static void teardown(void)
{
    loop_free(&loop);
    ck_assert_ptr_null(loop);
}

/* Writes its letter, and may do one thing more. */
struct step {
    struct loop_task task;
    char letter;
    struct step *defers;
    struct step *defers_last;
    struct step *posts;
    bool stops;
};

static void note(char letter)
{
    const size_t len = strlen(order);
    order[len] = letter;
    order[len + 1] = '\0';
}

static void on_reaped(void *object)
{
    note(*(char *)object);
}

static void run_step(struct loop_task *task)
{
    struct step *step = container_of(task, struct step, task);
    note(step->letter);
    if (step->defers != NULL) {
        loop_defer(loop, &step->defers->task);
    }
    if (step->defers_last != NULL) {
        loop_defer_last(loop, &step->defers_last->task);
    }
    if (step->posts != NULL) {
        loop_post(loop, &step->posts->task);
    }
    if (step->stops) {
        loop_stop(loop);
    }
}

#define STEP(...)                                                                                  \
    {                                                                                              \
        .task.run = run_step, .letter = __VA_ARGS__                                                \
    }

START_TEST(a_turn_has_an_order)
{
    struct step last = STEP('l');
    struct step late = STEP('n', .stops = true);
    struct step deferred = STEP('d', .defers = &late, .defers_last = &last);
    struct step posted = STEP('p', .defers = &deferred);
    char reaped = 'r';
    loop_post(loop, &posted.task);
    loop_reap(loop, &reaped, on_reaped);
    loop_run(loop);
    /* next turn's task had been deferred before the end of this one: the reaper waits for it */
    ck_assert_str_eq(order, "pdlnr");
}
END_TEST

START_TEST(queued_twice_runs_once)
{
    struct step stop = STEP('s', .stops = true);
    struct step once = STEP('o');
    loop_defer(loop, &once.task);
    loop_defer(loop, &once.task);
    loop_post(loop, &stop.task);
    loop_post(loop, &stop.task);
    loop_run(loop);
    ck_assert_str_eq(order, "so");
}
END_TEST

START_TEST(what_was_posted_before_the_stop_runs)
{
    struct step a = STEP('a');
    struct step b = STEP('b');
    loop_stop(loop);
    loop_post(loop, &a.task);
    loop_run(loop);
    ck_assert_str_eq(order, "a");
    loop_post(loop, &b.task);
    loop_stop(loop);
    loop_run(loop);
    ck_assert_str_eq(order, "ab");
}
END_TEST

START_TEST(free_runs_what_is_left)
{
    struct step late = STEP('2');
    struct step deferred = STEP('1', .defers = &late);
    struct step posted = STEP('p', .defers = &deferred);
    char reaped = 'r';
    loop_post(loop, &posted.task);
    loop_reap(loop, &reaped, on_reaped);
    loop_free(&loop);
    ck_assert_str_eq(order, "p12r");
    loop = loop_new("test");
}
END_TEST

/* Many threads */

#define THREADS 4
#define POSTS   20000

struct counter {
    struct loop_task task;
    atomic_bool waiting;
    unsigned *sum;
};

static struct counter counters[THREADS][16];
static unsigned sum;

static void count(struct loop_task *task)
{
    struct counter *counter = container_of(task, struct counter, task);
    const unsigned counted = ++*counter->sum;
    atomic_store(&counter->waiting, false); /* from here on it belongs to its thread */
    if (counted == THREADS * POSTS) {
        loop_stop(loop);
    }
}

static void *post_many(void *mine)
{
    struct counter *list = mine;
    for (unsigned i = 0; i < POSTS; i++) {
        struct counter *counter = &list[i % 16];
        while (atomic_load(&counter->waiting)) {
        }
        atomic_store(&counter->waiting, true);
        loop_post(loop, &counter->task);
    }
    return NULL;
}

START_TEST(posts_from_threads_all_arrive)
{
    pthread_t threads[THREADS];
    sum = 0;
    for (unsigned t = 0; t < THREADS; t++) {
        for (unsigned i = 0; i < 16; i++) {
            counters[t][i] = (struct counter){.task.run = count, .sum = &sum};
        }
        pthread_create(&threads[t], NULL, post_many, counters[t]);
    }
    loop_run(loop);
    for (unsigned t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
    }
    ck_assert_uint_eq(sum, THREADS * POSTS);
}
END_TEST

static void *run_loop(void *unused)
{
    (void)unused;
    loop_run(loop);
    return NULL;
}

START_TEST(a_sleeping_loop_is_woken)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run_loop, NULL);
    for (int i = 0; i < 200; i++) {
        struct counter counter = {.task.run = count, .waiting = true, .sum = &sum};
        sum = 0;
        loop_post(loop, &counter.task);
        while (atomic_load(&counter.waiting)) {
        }
    }
    loop_stop(loop);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(the_clock_stands_still_within_a_turn)
{
    const uint64_t before = loop_now(loop);
    for (volatile int i = 0; i < 100000; i++) {
    }
    ck_assert_uint_eq(loop_now(loop), before);
    loop_clock_refresh(loop);
    ck_assert_uint_gt(loop_now(loop), before);
    ck_assert_int_gt(loop_wall_ns(), 1600000000000000000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("loop");
    TCase *cases = tcase_create("loop");
    tcase_set_timeout(cases, 60);
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, a_turn_has_an_order);
    tcase_add_test(cases, queued_twice_runs_once);
    tcase_add_test(cases, what_was_posted_before_the_stop_runs);
    tcase_add_test(cases, free_runs_what_is_left);
    tcase_add_test(cases, posts_from_threads_all_arrive);
    tcase_add_test(cases, a_sleeping_loop_is_woken);
    tcase_add_test(cases, the_clock_stands_still_within_a_turn);
    suite_add_tcase(suite, cases);
    return unit_run(suite);
}
