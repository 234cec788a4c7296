// SPDX-License-Identifier: Apache-2.0
/*
 * The thread, and its connections kept in step with the world: one node for each member that can
 * be asked. A member that left keeps its connection until the calls on it have ended.
 */
#include "liaison/query/executor.h"

#include "liaison/own.h"
#include "liaison/query/query.h"
#include "liaison/query/survey.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREAD_STACK (8u << 20)         /* protobuf-c recurses along a request's nesting */
#define CACHE_LIMIT  ((size_t)64 << 20) /* and no more than a part of the process's budget */
#define CACHE_PART   32
#define SETTLE_NS    3000000000u /* how long first connections may hold queries up */
#define PUBLISH_MS   500
#define SHARE_NS     4000000 /* of a turn, for what takes long */
#define IDLE_LOOKS   4 /* at them, one each PUBLISH_MS; then nothing is kept for the next query */

struct slot {
    struct node *node; /* own */
    bool leaving;      /* not in the world any more; closed when its calls have ended */
    bool settled;      /* it has been up, or failed once */
};

struct executor {
    struct executor_setup setup;
    struct loop *loop; /* own */
    pthread_t thread;
    struct charge charge;
    struct arena_cache cache;
    struct metrics_shard *shard; /* borrow: metrics */
    struct loop_timer publish;
    struct loop_task stop;
    struct loop_task share;         /* while `ready` has some */
    STAILQ_HEAD(, loop_task) ready; /* what takes long, in the order of its turns */
    uint64_t share_began;           /* loop_now's clock */
    uint64_t longest;               /* turn, ns */
    struct metrics_series *turns;   /* borrow: metrics */

    struct world *world; /* one count; NULL before the first */
    uint64_t settled_at; /* loop_now's clock: from then on nobody waits for first connections */
    size_t slot_count;
    struct slot *slots; /* own, in no order */
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

static struct slot *find_slot(struct executor *executor, const char *name)
{
    for (size_t i = 0; i < executor->slot_count; i++) {
        struct slot *slot = &executor->slots[i];
        if (!slot->leaving && strcmp(node_name(slot->node), name) == 0) {
            return slot;
        }
    }
    return NULL;
}

struct node *executor_node(struct executor *executor, const struct member *member)
{
    struct slot *slot = find_slot(executor, member->name);
    return slot == NULL ? NULL : slot->node;
}

bool executor_is_settled(struct executor *executor)
{
    for (size_t i = 0; i < executor->slot_count; i++) {
        const struct slot *slot = &executor->slots[i];
        if (!slot->settled && !slot->leaving) {
            return loop_now(executor->loop) >= executor->settled_at;
        }
    }
    return true;
}

/* Work that takes long */

static void on_share(struct loop_task *task)
{
    struct executor *executor =
        (struct executor *)((char *)task - offsetof(struct executor, share));
    struct loop_task *first = STAILQ_FIRST(&executor->ready);
    if (first == NULL) {
        return; /* it was taken back since */
    }
    STAILQ_REMOVE_HEAD(&executor->ready, next);
    first->queued = false;
    if (!STAILQ_EMPTY(&executor->ready)) {
        loop_defer(executor->loop, task);
    }
    loop_clock_refresh(executor->loop);
    executor->share_began = loop_now(executor->loop);
    first->run(first);
}

void executor_queue(struct executor *executor, struct loop_task *task)
{
    if (task->queued) {
        return;
    }
    task->queued = true;
    STAILQ_INSERT_TAIL(&executor->ready, task, next);
    loop_defer(executor->loop, &executor->share);
}

/* NOLINTNEXTLINE(readability-function-*): the nesting is the list macro's */
void executor_unqueue(struct executor *executor, struct loop_task *task)
{
    if (task->queued) {
        task->queued = false;
        STAILQ_REMOVE(&executor->ready, task, loop_task, next);
    }
}

bool executor_share_is_over(struct executor *executor)
{
    loop_clock_refresh(executor->loop);
    return loop_now(executor->loop) - executor->share_began >= SHARE_NS;
}

/* What this thread holds, told to the metrics */

static void publish(struct executor *executor)
{
    size_t calls = 0;
    size_t links = 0;
    for (size_t i = 0; i < executor->slot_count; i++) {
        calls += node_calls(executor->slots[i].node);
        links += node_links(executor->slots[i].node);
    }
    metrics_charge(executor->shard, &executor->charge);
    metrics_live(executor->shard, METRIC_TURN_MAX, executor->longest);
    metrics_live(executor->shard, METRIC_LIVE_QUERIES, executor->queries);
    metrics_live(executor->shard, METRIC_LIVE_CALLS, calls);
    metrics_live(executor->shard, METRIC_LIVE_LINKS, links);
}

static void on_publish(struct loop_timer *timer)
{
    struct executor *executor =
        (struct executor *)((char *)timer - offsetof(struct executor, publish));
    executor->idle = executor->queries > 0 ? 0 : executor->idle + 1;
    if (budget_is_tight(executor->setup.budget) || executor->idle >= IDLE_LOOKS) {
        arena_cache_fini(&executor->cache);
    }
    publish(executor);
    loop_timer_start(timer, PUBLISH_MS);
}

/* Nodes */

static void drop_slot(struct executor *executor, size_t i)
{
    node_close(&executor->slots[i].node);
    executor->slots[i] = executor->slots[--executor->slot_count];
}

static void close_idle_leavers(struct executor *executor)
{
    for (size_t i = executor->slot_count; i-- > 0;) {
        if (executor->slots[i].leaving && node_calls(executor->slots[i].node) == 0) {
            drop_slot(executor, i);
        }
    }
}

static void on_node_state(void *owner, struct node *node)
{
    struct executor *executor = owner;
    for (size_t i = 0; i < executor->slot_count; i++) {
        if (executor->slots[i].node == node && node_state(node) != NODE_PROBING) {
            executor->slots[i].settled = true;
        }
    }
    publish(executor);
}

static bool is_askable(const struct member *member)
{
    return member->reached && member->left_at == 0;
}

static void add_slot(struct executor *executor, const struct member *member)
{
    struct slot *slots =
        realloc(executor->slots, (executor->slot_count + 1) * sizeof *executor->slots);
    if (slots == NULL) {
        abort();
    }
    executor->slots = slots;
    const struct node_setup setup = {
        .loop = executor->loop,
        .options = executor->setup.options,
        .log = executor->setup.log,
        .metrics = executor->setup.metrics,
        .charge = &executor->charge,
        .on_state = on_node_state,
        .owner = executor,
    };
    slots[executor->slot_count++] = (struct slot){.node = node_open(&setup, member)};
}

/* Same names and addresses stay connected; the rest leaves or is opened. */
static void follow_world(struct executor *executor)
{
    const struct world *world = executor->world;
    for (size_t i = 0; i < executor->slot_count; i++) {
        struct slot *slot = &executor->slots[i];
        const struct member *member = world_member(world, node_name(slot->node));
        slot->leaving = slot->leaving || member == NULL || !is_askable(member) ||
                        strcmp(member->address, node_address(slot->node)) != 0;
    }
    for (size_t i = 0; i < world->member_count; i++) {
        const struct member *member = &world->members[i];
        if (is_askable(member) && find_slot(executor, member->name) == NULL) {
            add_slot(executor, member);
        }
    }
    close_idle_leavers(executor);
}

void executor_report(struct executor *executor, struct survey_part *part)
{
    part->world = executor->world == NULL ? NULL : world_retain(executor->world);
    part->nodes = own_array(executor->slot_count, sizeof *part->nodes);
    for (size_t i = 0; i < executor->slot_count; i++) {
        const struct slot *slot = &executor->slots[i];
        if (!slot->leaving) {
            part->nodes[part->count++] = (struct survey_node){
                .name = own_text(node_name(slot->node)), .report = node_report(slot->node)};
        }
    }
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
    if (executor->world == NULL) {
        executor->settled_at = loop_now(executor->loop) + SETTLE_NS;
    }
    world_release(&executor->world);
    executor->world = post->world;
    free(post);
    follow_world(executor);
}

void executor_set_world(struct executor *executor, struct world *world)
{
    struct world_post *post = calloc(1, sizeof *post);
    if (post == NULL) {
        abort();
    }
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
    close_idle_leavers(executor);
    publish(executor);
}

static void on_start(struct loop_task *task)
{
    struct job *job = (struct job *)((char *)task - offsetof(struct job, start));
    query_start(job->executor, job);
}

static void on_cancel(struct loop_task *task)
{
    struct job *job = (struct job *)((char *)task - offsetof(struct job, cancel));
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

static void *run(void *owner)
{
    struct executor *executor = owner;
    loop_timer_start(&executor->publish, PUBLISH_MS);
    loop_run(executor->loop);
    return NULL;
}

struct executor *executor_open(const struct executor_setup *setup)
{
    struct executor *executor = calloc(1, sizeof *executor);
    if (executor == NULL) {
        abort();
    }
    char name[16];
    (void)snprintf(name, sizeof name, "executor-%u", setup->number);
    executor->setup = *setup;
    executor->loop = loop_new(name);
    const size_t part = setup->budget->limit / CACHE_PART;
    executor->charge.shared = &setup->budget->held;
    executor->cache.limit = part < CACHE_LIMIT ? part : CACHE_LIMIT;
    executor->cache.charge = &executor->charge;
    executor->share.run = on_share;
    STAILQ_INIT(&executor->ready);
    executor->shard = metrics_shard(setup->metrics);
    watch_turns(executor);
    LIST_INIT(&executor->running);
    loop_timer_init(&executor->publish, executor->loop, on_publish);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, THREAD_STACK);
    if (pthread_create(&executor->thread, &attributes, run, executor) != 0) {
        abort();
    }
    pthread_attr_destroy(&attributes);
    return executor;
}

static void on_stop(struct loop_task *task)
{
    struct executor *executor = (struct executor *)((char *)task - offsetof(struct executor, stop));
    while (!LIST_EMPTY(&executor->running)) {
        query_cancel(LIST_FIRST(&executor->running)->query, ERROR_UNAVAILABLE,
                     "the liaison is shutting down; ask another one");
    }
    while (executor->slot_count > 0) {
        drop_slot(executor, 0);
    }
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
    world_release(&closed->world);
    arena_cache_fini(&closed->cache);
    free(closed->slots);
    free(closed);
}
