// SPDX-License-Identifier: Apache-2.0
/* The thread, and what it is told by others. */
#include "liaison/query/executor.h"

#include "liaison/container_of.h"
#include "liaison/own.h"
#include "liaison/query/peers.h"
#include "liaison/query/query.h"
#include "liaison/query/shares.h"
#include "liaison/query/survey.h"
#include "liaison/spent_turns.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREAD_STACK (8u << 20)         /* protobuf-c recurses along a request's nesting */
#define CACHE_LIMIT  ((size_t)64 << 20) /* and no more than a part of the process's budget */
#define CACHE_PART   32
#define PUBLISH_MS   500
#define IDLE_LOOKS   4 /* at them, one each PUBLISH_MS; then nothing is kept for the next query */

struct executor {
    struct executor_setup setup;
    struct loop *loop; /* own */
    pthread_t thread;
    struct charge charge;
    struct arena_cache cache;
    struct spent_turns spent;
    struct metrics_shard *shard; /* borrow: metrics */
    struct loop_timer publish;
    struct loop_task stop;
    struct shares shares;
    struct peers peers;
    uint64_t longest;             /* turn, ns */
    struct metrics_series *turns; /* borrow: metrics */

    struct world *world; /* one count; NULL before the first */
    size_t queries;
    size_t idle; /* looks, one after the other, at which there were none */
    LIST_HEAD(, job) running;
};

/* For the queries */

struct loop *executor_loop(struct executor *executor)
{
    return executor->loop;
}

const struct executor_setup *executor_setup(const struct executor *executor)
{
    return &executor->setup;
}

struct charge *executor_charge(struct executor *executor)
{
    return &executor->charge;
}

struct arena_cache *executor_cache(struct executor *executor)
{
    return &executor->cache;
}

struct world *executor_world(struct executor *executor)
{
    return executor->world;
}

struct node *executor_node(struct executor *executor, const struct member *member)
{
    return peers_node(&executor->peers, member->name);
}

bool executor_is_settled(struct executor *executor)
{
    return peers_are_settled(&executor->peers);
}

void executor_queue(struct executor *executor, struct loop_task *task)
{
    shares_queue(&executor->shares, task);
}

void executor_unqueue(struct executor *executor, struct loop_task *task)
{
    shares_unqueue(&executor->shares, task);
}

bool executor_share_is_over(struct executor *executor)
{
    return shares_is_over(&executor->shares);
}

void executor_report(struct executor *executor, struct survey_part *part)
{
    part->world = executor->world == NULL ? NULL : world_retain(executor->world);
    peers_report(&executor->peers, part);
}

/* What this thread holds, told to the metrics */

static void publish(struct executor *executor)
{
    metrics_charge(executor->shard, &executor->charge);
    metrics_live(executor->shard, METRIC_TURN_MAX, executor->longest);
    metrics_live(executor->shard, METRIC_LIVE_QUERIES, executor->queries);
    metrics_live(executor->shard, METRIC_LIVE_CALLS, peers_calls(&executor->peers));
    metrics_live(executor->shard, METRIC_LIVE_LINKS, peers_links(&executor->peers));
}

static void on_publish(struct loop_timer *timer)
{
    struct executor *executor = container_of(timer, struct executor, publish);
    executor->idle = executor->queries > 0 ? 0 : executor->idle + 1;
    if (budget_is_tight(executor->setup.budget) || executor->idle >= IDLE_LOOKS) {
        arena_cache_fini(&executor->cache);
    }
    publish(executor);
    loop_timer_start(timer, PUBLISH_MS);
}

/* What other threads ask for */

struct world_post {
    struct loop_task task;
    struct executor *executor; /* borrow */
    struct world *world;       /* one count */
};

static void on_world(struct loop_task *task)
{
    struct world_post *post = (struct world_post *)task;
    struct executor *executor = post->executor;
    world_release(&executor->world);
    executor->world = post->world;
    free(post);
    peers_follow(&executor->peers, executor->world);
}

void executor_set_world(struct executor *executor, struct world *world)
{
    struct world_post *post = own_array(1, sizeof *post);
    *post = (struct world_post){.task.run = on_world, .executor = executor, .world = world};
    loop_post(executor->loop, &post->task);
}

void executor_job_began(struct executor *executor, struct job *job)
{
    executor->queries++;
    LIST_INSERT_HEAD(&executor->running, job, running);
    publish(executor);
}

void executor_job_ended(struct executor *executor, struct job *job)
{
    assert(executor->queries > 0);
    executor->queries--;
    LIST_REMOVE(job, running);
    peers_sweep(&executor->peers);
    publish(executor);
}

static void on_start(struct loop_task *task)
{
    struct job *job = container_of(task, struct job, start);
    query_start(job->executor, job);
}

static void on_cancel(struct loop_task *task)
{
    struct job *job = container_of(task, struct job, cancel);
    if (job->query != NULL) {
        query_cancel(job->query, ERROR_CANCELLED, "the client cancelled the query or is gone");
    }
    job_release(&job);
}

void executor_submit(struct executor *executor, struct job *job)
{
    job->executor = executor;
    job->start.run = on_start;
    loop_post(executor->loop, &job_retain(job)->start);
}

void executor_cancel(struct job *job)
{
    job->cancel.run = on_cancel;
    loop_post(job->executor->loop, &job_retain(job)->cancel);
}

/* The thread */

static void on_turned(void *owner, uint64_t nanoseconds)
{
    struct executor *executor = owner;
    metrics_observe(executor->turns, nanoseconds);
    if (nanoseconds > executor->longest) {
        executor->longest = nanoseconds;
    }
}

static void watch_turns(struct executor *executor)
{
    char number[12];
    (void)snprintf(number, sizeof number, "%u", executor->setup.number);
    const char *const labels[] = {number};
    executor->turns = metrics_series(executor->setup.metrics, METRIC_TURNS, labels);
    loop_watch(executor->loop, on_turned, executor);
}

static void on_peers(void *owner)
{
    publish(owner);
}

static void open_peers(struct executor *executor)
{
    executor->peers.setup = (struct node_setup){
        .loop = executor->loop,
        .options = executor->setup.options,
        .log = executor->setup.log,
        .metrics = executor->setup.metrics,
        .charge = &executor->charge,
    };
    executor->peers.on_change = on_peers;
    executor->peers.owner = executor;
    peers_init(&executor->peers);
}

static void open_charge(struct executor *executor)
{
    struct budget *budget = executor->setup.budget;
    const size_t part = budget->limit / CACHE_PART;
    executor->charge.shared = &budget->held;
    executor->cache.limit = part < CACHE_LIMIT ? part : CACHE_LIMIT;
    executor->cache.charge = &executor->charge;
    spent_turns_begin(&executor->spent, &executor->charge, executor->loop);
}

static void *run(void *owner)
{
    struct executor *executor = owner;
    loop_timer_start(&executor->publish, PUBLISH_MS);
    loop_run(executor->loop);
    return NULL;
}

static void start_thread(struct executor *executor)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, THREAD_STACK);
    if (pthread_create(&executor->thread, &attributes, run, executor) != 0) {
        abort();
    }
    pthread_attr_destroy(&attributes);
}

struct executor *executor_open(const struct executor_setup *setup)
{
    struct executor *executor = own_array(1, sizeof *executor);
    char name[16];
    (void)snprintf(name, sizeof name, "executor-%u", setup->number);
    executor->setup = *setup;
    executor->loop = loop_new(name);
    open_charge(executor);
    shares_init(&executor->shares, executor->loop);
    open_peers(executor);
    executor->shard = metrics_shard(setup->metrics);
    watch_turns(executor);
    LIST_INIT(&executor->running);
    loop_timer_init(&executor->publish, executor->loop, on_publish);
    start_thread(executor);
    return executor;
}

static void on_stop(struct loop_task *task)
{
    struct executor *executor = container_of(task, struct executor, stop);
    while (!LIST_EMPTY(&executor->running)) {
        query_cancel(LIST_FIRST(&executor->running)->query, ERROR_UNAVAILABLE,
                     "the liaison is shutting down; ask another one");
    }
    peers_close(&executor->peers);
    loop_timer_fini(&executor->publish);
    publish(executor);
    loop_stop(executor->loop);
}

void executor_close(struct executor **executor)
{
    struct executor *closed = *executor;
    *executor = NULL;
    if (closed == NULL) {
        return;
    }
    closed->stop.run = on_stop;
    loop_post(closed->loop, &closed->stop);
    pthread_join(closed->thread, NULL);
    loop_free(&closed->loop);
    spent_turns_end(&closed->spent);
    world_release(&closed->world);
    arena_cache_fini(&closed->cache);
    peers_fini(&closed->peers);
    free(closed);
}
