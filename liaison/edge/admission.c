// SPDX-License-Identifier: Apache-2.0
/* A line of jobs, and one timer for the one that has waited longest. */
#include "liaison/edge/admission.h"

#include "liaison/container_of.h"
#include "liaison/own.h"

#include <assert.h>
#include <stdlib.h>

struct admission {
    struct admission_setup setup;
    size_t running;
    size_t *load; /* own: running jobs of each executor */
    TAILQ_HEAD(, job) line;
    struct loop_timer timer;
    bool ended; /* nothing is started any more */
};

static uint64_t patience(const struct admission *admission)
{
    int64_t ns = admission->setup.options->max_queue_duration;
    return ns > 0 ? (uint64_t)ns : 0;
}

static bool has_place(const struct admission *admission)
{
    int64_t limit = admission->setup.options->max_concurrent_queries;
    return limit <= 0 || admission->running < (size_t)limit;
}

/* True: the job has all that it needs to run. */
static bool take_place(struct admission *admission, struct job *job)
{
    if (has_place(admission)) {
        job->ticket = budget_enter(admission->setup.budget);
    }
    return job->ticket != BUDGET_NONE;
}

static size_t least_loaded(const struct admission *admission)
{
    size_t least = 0;
    for (size_t i = 1; i < admission->setup.executor_count; i++) {
        if (admission->load[i] < admission->load[least]) {
            least = i;
        }
    }
    return least;
}

static void start(struct admission *admission, struct job *job)
{
    size_t chosen = least_loaded(admission);
    job->place = JOB_RUNNING;
    job->executor_index = chosen;
    admission->load[chosen]++;
    admission->running++;
    executor_submit(admission->setup.executors[chosen], job);
}

static void watch_first(struct admission *admission)
{
    const struct job *first = TAILQ_FIRST(&admission->line);
    if (first == NULL) {
        loop_timer_stop(&admission->timer);
    } else {
        loop_timer_start_at(&admission->timer, first->entered + patience(admission));
    }
}

static void take_from_line(struct admission *admission, struct job *job)
{
    TAILQ_REMOVE(&admission->line, job, line);
    job->place = JOB_OUTSIDE;
}

static void refuse_without_memory(const struct admission *admission, struct job *job)
{
    const struct budget *budget = admission->setup.budget;
    job->crowded = true;
    error_set(&job->status, ERROR_RESOURCE_EXHAUSTED,
              "%zu queries are running, the liaison holds %zu of the %zu bytes that it may "
              "(--allowed-bytes, --allowed-percent) and no share of it became free within %llu "
              "ms (--max-queue-duration); try again in a second",
              admission->running, budget_held(budget), budget->limit,
              (unsigned long long)(patience(admission) / 1000000));
}

static void refuse_without_place(const struct admission *admission, struct job *job)
{
    error_set(&job->status, ERROR_RESOURCE_EXHAUSTED,
              "%zu queries are running (--max-concurrent-queries=%lld) and no place became free "
              "within %llu ms (--max-queue-duration); try again later",
              admission->running, (long long)admission->setup.options->max_concurrent_queries,
              (unsigned long long)(patience(admission) / 1000000));
}

static void refuse(struct admission *admission, struct job *job)
{
    if (admission->ended) {
        error_set(&job->status, ERROR_UNAVAILABLE, "the liaison is shutting down; ask another one");
    } else if (has_place(admission)) {
        refuse_without_memory(admission, job);
    } else {
        refuse_without_place(admission, job);
    }
    admission->setup.on_refused(job);
}

static void on_timer(struct loop_timer *timer)
{
    struct admission *admission = container_of(timer, struct admission, timer);
    uint64_t now = loop_now(admission->setup.loop);
    struct job *first;
    while ((first = TAILQ_FIRST(&admission->line)) != NULL &&
           first->entered + patience(admission) <= now) {
        take_from_line(admission, first);
        refuse(admission, first);
    }
    watch_first(admission);
}

struct admission *admission_open(const struct admission_setup *setup)
{
    struct admission *admission = own_array(1, sizeof *admission);
    admission->setup = *setup;
    admission->load = own_array(setup->executor_count, sizeof *admission->load);
    TAILQ_INIT(&admission->line);
    loop_timer_init(&admission->timer, setup->loop, on_timer);
    return admission;
}

void admission_end(struct admission *admission)
{
    struct job *first;
    admission->ended = true;
    loop_timer_stop(&admission->timer);
    while ((first = TAILQ_FIRST(&admission->line)) != NULL) {
        take_from_line(admission, first);
        refuse(admission, first);
    }
}

void admission_close(struct admission **admission)
{
    struct admission *closed = *admission;
    *admission = NULL;
    if (closed != NULL) {
        loop_timer_fini(&closed->timer);
        free(closed->load);
        free(closed);
    }
}

void admission_enter(struct admission *admission, struct job *job)
{
    if (admission->ended) {
        refuse(admission, job);
        return;
    }
    if (TAILQ_EMPTY(&admission->line) && take_place(admission, job)) {
        start(admission, job);
        return;
    }
    job->place = JOB_WAITING;
    job->entered = loop_now(admission->setup.loop);
    TAILQ_INSERT_TAIL(&admission->line, job, line);
    watch_first(admission);
}

void admission_leave(struct admission *admission, struct job *job)
{
    assert(job->place == JOB_RUNNING && admission->running > 0);
    job->place = JOB_OUTSIDE;
    admission->load[job->executor_index]--;
    admission->running--;
    budget_leave(admission->setup.budget, job->ticket);
    job->ticket = BUDGET_NONE;
    admission_retry(admission);
}

void admission_retry(struct admission *admission)
{
    struct job *first;
    while ((first = TAILQ_FIRST(&admission->line)) != NULL && take_place(admission, first)) {
        take_from_line(admission, first);
        start(admission, first);
        watch_first(admission);
    }
}

bool admission_cancel(struct admission *admission, struct job *job)
{
    if (job->place == JOB_WAITING) {
        take_from_line(admission, job);
        watch_first(admission);
        return true;
    }
    if (job->place == JOB_RUNNING && !admission->ended) { /* else the executors are closed */
        executor_cancel(job);
    }
    return false;
}

size_t admission_running(const struct admission *admission)
{
    return admission->running;
}
