// SPDX-License-Identifier: Apache-2.0
/* What does not fit ends the round by a turn of its own: the call that asks is in the midst of
 * receiving. The other nodes' messages are not waited for. */
#include "liaison/query/round.h"

#include "liaison/container_of.h"

#include <assert.h>

#define DEADLINE_SLACK_NS 10000000
#define STEPS_AT_ONCE     4096 /* of taking in, between two looks at the clock */

static struct loop *loop_of(const struct round *round)
{
    return executor_loop(round->executor);
}

/* --skip-slow-replicas: as soon as those that have answered hold every row, nobody is waited for.
 * A TopN job sees to it question by question. */
static void skip_slow(struct round *round)
{
    struct work *work = round->work;
    if (!work->options->skip_slow_replicas || round->job->kind != JOB_MEASURE_QUERY ||
        fanout_has_failed(round->fanout) || fanout_open_calls(round->fanout) == 0) {
        return;
    }
    bool *waiting = arena_array(&round->region, bool, work->world->member_count);
    fanout_mark_open(round->fanout, waiting);
    if (broadcast_can_spare(&work->broadcast, waiting)) {
        fanout_abandon(round->fanout);
    }
}

static void refuse(struct round *round, const struct error *err)
{
    if (!round->refused) {
        round->refused = true;
        round->refusal = arena_new(&round->region, struct error);
        *round->refusal = *err;
        executor_queue(round->executor, &round->after);
    }
}

static void refuse_if_too_much(struct round *round, const struct error *err)
{
    if (err->code == ERROR_RESOURCE_EXHAUSTED) {
        refuse(round, err);
    }
}

static bool on_answer(void *owner, const struct fanout_source *source, struct msg *msg,
                      struct slice body, struct error *err)
{
    struct round *round = owner;
    if (round->refused || round->work->ops->answer(round->work, source, msg, body, err)) {
        return true;
    }
    refuse_if_too_much(round, err);
    return false;
}

static enum progress on_take(void *owner, const struct fanout_source *source, size_t *left,
                             struct error *err)
{
    struct round *round = owner;
    if (round->refused) {
        return PROGRESS_DONE;
    }
    enum progress progress = round->work->ops->take(round->work, source, left, err);
    if (progress == PROGRESS_FAILED) {
        refuse_if_too_much(round, err);
    }
    if (progress != PROGRESS_MORE) {
        skip_slow(round);
    }
    return progress;
}

/* Also after the query's end, which taking an answer in may be. */
static bool is_waiting(const struct round *round)
{
    return round->open && fanout_is_waiting(round->fanout);
}

/* What is small is taken in as it comes; the rest is done by turns. */
static void on_waiting(void *owner)
{
    struct round *round = owner;
    if (!round->ahead && !round->take.queued) {
        size_t left = STEPS_AT_ONCE;
        if (fanout_take(round->fanout, &left)) { /* else the round may be gone */
            executor_queue(round->executor, &round->take);
        }
    }
}

static void on_take_turn(struct loop_task *task)
{
    struct round *round = container_of(task, struct round, take);
    struct executor *executor = round->executor;
    bool waits = is_waiting(round);
    while (waits && !executor_share_is_over(executor)) {
        size_t left = STEPS_AT_ONCE;
        waits = fanout_take(round->fanout, &left); /* false: the round may be gone */
    }
    if (waits) {
        executor_queue(executor, task);
    }
}

/* Whether a node is lost is told by what is asked in its turn, alone. */
static bool on_lost(void *owner, const struct fanout_source *source, struct error *err)
{
    struct round *round = owner;
    struct broadcast *broadcast = &round->work->broadcast;
    if (round->tentative) {
        return broadcast->lost[source->rank];
    }
    const bool goes_on = broadcast_lose(broadcast, source->rank, err);
    round->job->incomplete = broadcast->incomplete;
    return goes_on;
}

static bool admit_ahead(struct round *round, size_t declared, struct error *err)
{
    round->refused = round->refused || !work_admit_ahead(round->work, round, declared);
    return !round->refused ||
           error_set(err, ERROR_RESOURCE_EXHAUSTED, "no room for an answer before its turn");
}

static bool on_admit(void *owner, const struct fanout_source *source, size_t declared,
                     struct slice head, struct error *err)
{
    struct round *round = owner;
    struct work *work = round->work;
    if (round->ahead) {
        return admit_ahead(round, declared, err);
    }
    if (round->refused) {
        *err = *round->refusal;
        return false;
    }
    if ((work->ops->admit == NULL || work->ops->admit(work, source, declared, head, err)) &&
        work_admit(work, source, declared, err)) {
        return true;
    }
    refuse(round, err);
    return false;
}

/* Would other questions be answered better? */
static bool asks_otherwise(struct round *round, struct error *failed)
{
    const struct work_ops *ops = round->work->ops;
    return ops->again != NULL && ops->again(round->work, failed);
}

static void end(struct round *round, const struct error *failed)
{
    const struct work_ops *ops = round->work->ops;
    if (ops->answered != NULL) {
        ops->answered(round->work, failed);
    }
    round->on_end(round->owner, failed);
}

/* The calls to nodes end with the client's deadline: before the edge sees that it is over, and a
 * few milliseconds early where it is the node that ends them. */
static bool is_late(const struct round *round)
{
    const uint64_t deadline = round->job->deadline;
    return deadline != 0 && loop_now(loop_of(round)) + DEADLINE_SLACK_NS >= deadline;
}

static void on_complete(void *owner, const struct error *failed)
{
    struct round *round = owner;
    if (round->refused || round->ahead) {
        return; /* it ends by its turn */
    }
    struct error err = {.code = ERROR_NONE};
    const bool late = failed != NULL && is_late(round);
    if (failed != NULL) {
        err = *failed;
        err.code = late ? ERROR_DEADLINE_EXCEEDED : err.code;
    }
    if (!late && asks_otherwise(round, failed == NULL ? NULL : &err)) {
        executor_queue(round->executor, &round->after); /* the fan-out is still on the stack */
        return;
    }
    end(round, failed == NULL ? NULL : &err);
}

static void on_after(struct loop_task *task)
{
    struct round *round = container_of(task, struct round, after);
    if (round->refused && !asks_otherwise(round, round->refusal)) {
        fanout_close(&round->fanout);
        end(round, round->refusal);
        return;
    }
    round_close(round);
    round_ask(round);
}

void round_init(struct round *round)
{
    round->charge = (struct charge){.parent = round->work->charge};
    round->after = (struct loop_task){.run = on_after};
    round->take = (struct loop_task){.run = on_take_turn};
}

/* With the fan-out's calls to be asked. */
static void open_with(struct round *round, size_t calls)
{
    static const struct fanout_events events = {
        .admit = on_admit,
        .on_waiting = on_waiting,
        .on_answer = on_answer,
        .on_take = on_take,
        .on_lost = on_lost,
        .on_complete = on_complete,
    };
    assert(!round->open && round->charge.total == 0);
    round->open = true;
    arena_init(&round->region, SIZE_MAX, executor_cache(round->executor), &round->charge);
    round->fanout = fanout_open(loop_of(round), &round->region, calls, &events, round);
    round->work->ops->ask(round->work, round);
    fanout_seal(round->fanout);
}

void round_ask(struct round *round)
{
    struct work *work = round->work;
    work->front = round;
    round->was_ahead = false;
    round->tentative = false;
    open_with(round, work->ops->open(work));
}

void round_ask_ahead(struct round *round, size_t calls)
{
    round->was_ahead = true;
    round->tentative = true;
    round->ahead = true;
    open_with(round, calls);
}

void round_take_turn(struct round *round)
{
    assert(round->ahead && !round_has_failed(round));
    round->ahead = false;
    round->work->front = round;
    (void)round->work->ops->open(round->work);
    if (is_waiting(round)) {
        executor_queue(round->executor, &round->take);
    }
}

bool round_has_failed(const struct round *round)
{
    return round->refused || fanout_has_failed(round->fanout);
}

void round_close(struct round *round)
{
    round->open = false;
    fanout_close(&round->fanout);
    executor_unqueue(round->executor, &round->after);
    executor_unqueue(round->executor, &round->take);
    arena_fini(&round->region);
    round->ahead = false;
    round->refused = false;
    round->intake = (struct round_intake){.most_bytes = 0};
}
