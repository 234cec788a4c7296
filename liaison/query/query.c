// SPDX-License-Identifier: Apache-2.0
/*
 * The steps of a query, top-down in the order in which they happen.
 *
 * Legal state steps: WAITING → PLANNING, PLANNING → ASKING → MERGING, and any → ENDED.
 */
#include "liaison/query/query.h"

#include "liaison/query/account.h"
#include "liaison/query/measure_work.h"
#include "liaison/query/topn_work.h"

#include <assert.h>
#include <stdlib.h>

#define SHARE_NS 4000000 /* of a loop's turn that one query may take; looked at between steps */

enum query_state {
    QUERY_WAITING,  /* for a revision of the schema; guarded by gate_until */
    QUERY_PLANNING, /* for nothing: bytes → plan */
    QUERY_ASKING,   /* for the nodes, once or again; each call has its deadline */
    QUERY_MERGING,  /* for the loop: a share of the answer each turn */
    QUERY_ENDED,    /* to be freed after this turn */
};

struct query {
    struct executor *executor; /* borrow: outlives its queries */
    struct job *job;           /* one count */
    enum query_state state;
    uint64_t began;      /* loop_now's clock */
    uint64_t gate_until; /* until when it may wait for a revision */
    uint64_t gate_pause; /* ns, grows */
    struct loop_timer retry;
    struct loop_task turn; /* in the executor's queue */
    bool refused;          /* a message was; `refusal` says why, and the turn ends the query */
    struct error refusal;
    struct loop_task again;

    struct charge charge;
    struct arena arena;
    struct msg *bytes;         /* pin: the request */
    struct world *world;       /* one count */
    struct chain chain;        /* own: the response so far */
    struct work *work;         /* borrow: region; what this kind of job does at each step */
    struct arena_mark unasked; /* where the region ended before the nodes were asked */
};

static const struct options *options_of(const struct query *query)
{
    return executor_setup(query->executor)->options;
}

static struct loop *loop_of(const struct query *query)
{
    return executor_loop(query->executor);
}

static void set_state(struct query *query, enum query_state state)
{
    bool legal = state == QUERY_ENDED ? query->state != QUERY_ENDED
                                      : state >= query->state || state == QUERY_WAITING;
    assert(legal);
    query->state = state;
}

static void open_chain(struct query *query)
{
    chain_init(&query->chain, &query->charge);
    query->chain.store = &executor_setup(query->executor)->budget->blocks.store;
}

/* Endings */

static void free_query(void *object)
{
    struct query *query = object;
    loop_timer_fini(&query->retry);
    free(query);
}

static void give_back(struct query *query)
{
    fanout_close(&query->work->fanout);
    if (query->work->ops->close != NULL) {
        query->work->ops->close(query->work);
    }
    chain_fini(&query->chain);
    msg_release(&query->bytes);
    arena_fini(&query->arena);
    world_release(&query->world);
    loop_timer_stop(&query->retry);
    executor_unqueue(query->executor, &query->turn);
}

/* The one way out. `err` NULL: it went well. The client gets the chain, or `err` as the status. */
static void leave(struct query *query, const struct error *err, bool err_is_status)
{
    set_state(query, QUERY_ENDED);
    struct job *job = query->job;
    loop_clock_refresh(loop_of(query));
    if (err_is_status) {
        job->status = *err;
    } else {
        chain_move(&query->chain, &job->response);
        job->approximate = query->work->approximate;
    }
    job->crowded = query->work->crowded;
    const struct account account = {
        .took = loop_now(loop_of(query)) - query->began,
        .err = err,
        .incomplete = job->incomplete != NULL,
        .peak = query->charge.peak,
    };
    account_end(query->work, executor_setup(query->executor), &account);
    job->query = NULL;
    give_back(query);
    loop_reap(loop_of(query), query, free_query);
    executor_job_ended(query->executor, job);
    loop_post(job->edge, &job->done); /* carries the query's count */
}

static void end(struct query *query, const struct error *err)
{
    leave(query, err, true);
}

/* The trace of a query that has come to its end; the last part of its response. */
static void put_trace(struct query *query, const struct error *failed)
{
    struct work *work = query->work;
    trace_tag(work->trace_tree.execution, "peak_charge_bytes", "%zu", query->charge.peak);
    const struct query_results results = {.name = work->ops->results, .count = work->result_count};
    query_trace_close(&work->trace_tree, &results, failed, &query->chain);
}

static void succeed(struct query *query)
{
    put_trace(query, NULL);
    leave(query, NULL, false);
}

/* An execution that fails is told in the trace, if there is one, and not by the status. */
static void tell(struct query *query, const struct error *err)
{
    if (!query_trace_is_executing(&query->work->trace_tree)) {
        end(query, err);
        return;
    }
    chain_fini(&query->chain);
    open_chain(query);
    put_trace(query, err);
    leave(query, err, false);
}

static void fail(struct query *query, struct error *err)
{
    query->work->ops->wrap(query->work, err);
    tell(query, err);
}

void query_cancel(struct query *query, enum error_code code, const char *why)
{
    if (query->state == QUERY_ENDED) {
        return;
    }
    struct error err;
    error_set(&err, code, "%s", why);
    end(query, &err);
}

/* Merging */

/* Steps until the share is over: how long one takes depends on the rows. */
static enum merge_state work_for_a_share(struct query *query, struct error *err)
{
    loop_clock_refresh(loop_of(query));
    const uint64_t began = loop_now(loop_of(query));
    const uint64_t work = executor_work();
    enum merge_state state;
    do {
        state = query->work->ops->turn(query->work, err);
        loop_clock_refresh(loop_of(query));
    } while (state == MERGE_MORE && loop_now(loop_of(query)) - began < SHARE_NS);
    executor_worked(query->executor, work);
    return state;
}

static void on_turn(struct loop_task *task)
{
    struct query *query = (struct query *)((char *)task - offsetof(struct query, turn));
    struct error err;
    if (query->state == QUERY_ASKING) {
        fail(query, &query->refusal);
        return;
    }
    switch (work_for_a_share(query, &err)) {
    case MERGE_MORE:
        executor_queue(query->executor, &query->turn);
        break;
    case MERGE_DONE:
        succeed(query);
        break;
    case MERGE_FAILED:
        fail(query, &err);
        break;
    }
}

/* Asking */

/* --skip-slow-replicas: as soon as those that have answered hold every row, nobody is waited for.
 * A TopN job asks its questions one after the other and waits for each. */
static void skip_slow(struct query *query)
{
    struct work *work = query->work;
    if (!options_of(query)->skip_slow_replicas || query->job->kind != JOB_MEASURE_QUERY ||
        fanout_has_failed(work->fanout) || fanout_open_calls(work->fanout) == 0) {
        return;
    }
    bool *waiting = arena_array(&query->arena, bool, query->world->member_count);
    memset(waiting, 0, query->world->member_count * sizeof *waiting);
    fanout_mark_open(work->fanout, waiting);
    if (broadcast_can_spare(&work->broadcast, waiting)) {
        fanout_abandon(work->fanout);
    }
}

static bool on_answer(void *owner, const struct fanout_source *source, struct msg *msg,
                      struct slice body, struct error *err)
{
    struct query *query = owner;
    const uint64_t work = executor_work();
    const bool taken = query->work->ops->answer(query->work, source, msg, body, err);
    executor_worked(query->executor, work);
    skip_slow(query);
    return taken;
}

static bool on_lost(void *owner, const struct fanout_source *source, struct error *err)
{
    struct query *query = owner;
    struct broadcast *broadcast = &query->work->broadcast;
    const bool goes_on = broadcast_lose(broadcast, source->rank, err);
    query->job->incomplete = broadcast->incomplete;
    return goes_on;
}

/* The query is as good as over, so that the other nodes' messages need not be waited for; it ends
 * by a turn, as the call that asks is in the midst of receiving. */
static void refuse(struct query *query, const struct error *err)
{
    if (!query->refused) {
        query->refused = true;
        query->refusal = *err;
        executor_queue(query->executor, &query->turn);
    }
}

static bool on_admit(void *owner, size_t declared, struct error *err)
{
    struct query *query = owner;
    if (work_admit(query->work, declared, err)) {
        return true;
    }
    refuse(query, err);
    return false;
}

/* Would other questions be answered better? */
static bool may_ask_again(struct query *query, const struct error *failed)
{
    const struct work_ops *ops = query->work->ops;
    return !query->refused && ops->again != NULL && ops->again(query->work, failed);
}

static void on_complete(void *owner, const struct error *failed)
{
    struct query *query = owner;
    if (may_ask_again(query, failed)) {
        loop_defer(loop_of(query), &query->again); /* the fan-out is still on the stack */
        return;
    }
    if (query->work->ops->answered != NULL) {
        query->work->ops->answered(query->work, failed);
    }
    if (failed != NULL) {
        struct error err = *failed;
        fail(query, &err);
        return;
    }
    set_state(query, QUERY_MERGING);
    executor_queue(query->executor, &query->turn);
}

static bool choose_nodes(struct query *query, struct error *err)
{
    struct work *work = query->work;
    work->broadcast = (struct broadcast){
        .executor = query->executor,
        .world = query->world,
        .groups = work->groups,
        .group_count = work->group_count,
        .begin = work->begin,
        .refusal = work->ops->refusal,
        .arena = &query->arena,
        .charge = &query->charge,
        .client_deadline = query->job->deadline,
    };
    bool prepared = broadcast_prepare(&work->broadcast, err);
    query->job->incomplete = work->broadcast.incomplete;
    return prepared;
}

static void ask(struct query *query)
{
    static const struct fanout_events events = {
        .admit = on_admit, .on_answer = on_answer, .on_lost = on_lost, .on_complete = on_complete};
    struct work *work = query->work;
    query->unasked = arena_mark(&query->arena);
    work->fanout =
        fanout_open(loop_of(query), &query->arena, work->ops->open(work), &events, query);
    set_state(query, QUERY_ASKING);
    work->ops->ask(work);
    fanout_seal(work->fanout);
}

/* Nothing is kept of the answers that came, but in a trace, which lies in the region. */
static void on_again(struct loop_task *task)
{
    struct query *query = (struct query *)((char *)task - offsetof(struct query, again));
    if (query->state != QUERY_ASKING) {
        return; /* cancelled since */
    }
    fanout_close(&query->work->fanout);
    if (!query->work->trace) {
        arena_rewind(&query->arena, query->unasked);
    }
    ask(query);
}

/* Planning */

static void plan_and_ask(struct query *query)
{
    struct error err;
    if (!query->work->ops->plan(query->work, &err)) {
        tell(query, &err);
        return;
    }
    if (!choose_nodes(query, &err)) {
        fail(query, &err);
        return;
    }
    ask(query);
}

static bool has_catalog(const struct query *query)
{
    return query->world != NULL && query->world->catalog != NULL;
}

/* Waits a little longer each time, 10 ms at first and a second at most. */
static void wait_and_retry(struct query *query)
{
    set_state(query, QUERY_WAITING);
    uint64_t pause = query->gate_pause == 0 ? 10000000 : query->gate_pause * 3 / 2;
    query->gate_pause = pause < 1000000000 ? pause : 1000000000;
    loop_timer_start(&query->retry, query->gate_pause / 1000000);
}

static enum request_step pass_gate(struct query *query)
{
    const struct work_ops *ops = query->work->ops;
    bool may_wait = loop_now(loop_of(query)) < query->gate_until;
    return ops->gate == NULL ? REQUEST_GO_ON : ops->gate(query->work, may_wait);
}

static void gate(struct query *query)
{
    set_state(query, QUERY_PLANNING);
    world_release(&query->world);
    if (executor_world(query->executor) != NULL) {
        query->world = world_retain(executor_world(query->executor));
    }
    query->work->world = query->world;
    struct error err;
    if (!has_catalog(query)) {
        error_set(&err, ERROR_UNAVAILABLE,
                  "the schema registry has not answered yet: no measure is known; try again soon");
        end(query, &err);
        return;
    }
    if (!executor_is_settled(query->executor)) {
        wait_and_retry(query);
        return;
    }
    switch (pass_gate(query)) {
    case REQUEST_GO_ON:
        plan_and_ask(query);
        break;
    case REQUEST_ANSWERED:
        succeed(query);
        break;
    case REQUEST_WAIT:
        wait_and_retry(query);
        break;
    }
}

static void on_retry(struct loop_timer *timer)
{
    gate((struct query *)((char *)timer - offsetof(struct query, retry)));
}

static const struct work_ops *ops_of(enum job_kind kind)
{
    switch (kind) {
    case JOB_MEASURE_QUERY:
        return &measure_work_ops;
    case JOB_TOPN:
        return &topn_work_ops;
    }
    return NULL;
}

static void open_work(struct query *query)
{
    struct work *work = work_new(ops_of(query->job->kind), &query->arena);
    work->options = options_of(query);
    work->chain = &query->chain;
    work->charge = &query->charge;
    work->executor = query->executor;
    query->work = work;
}

static struct query *query_new(struct executor *executor, struct job *job)
{
    struct query *query = calloc(1, sizeof *query);
    if (query == NULL) {
        abort();
    }
    query->executor = executor;
    query->job = job;
    query->state = QUERY_PLANNING;
    query->began = loop_now(executor_loop(executor));
    query->gate_until =
        query->began + (uint64_t)options_of(query)->measure_metadata_cache_wait_duration;
    query->charge.parent = executor_charge(executor);
    query->turn.run = on_turn;
    query->again.run = on_again;
    loop_timer_init(&query->retry, executor_loop(executor), on_retry);
    size_t budget = (size_t)options_of(query)->measure_vectorized_query_memory_mib << 20;
    arena_init(&query->arena, budget, executor_cache(executor), &query->charge);
    open_chain(query);
    open_work(query);
    return query;
}

static void open_trace(struct query *query)
{
    struct work *work = query->work;
    if (work->trace) {
        char *request = work->ops->describe(work);
        query_trace_open(&work->trace_tree, work->arena, work->ops->root, request);
        free(request);
    }
}

void query_start(struct executor *executor, struct job *job)
{
    struct query *query = query_new(executor, job);
    struct error err;
    job->query = query;
    executor_job_began(executor, job);
    query->bytes = job->request;
    job->request = NULL;
    msg_recharge(query->bytes, &query->charge);
    bool parsed = query->work->ops->parse(query->work, msg_bytes(query->bytes), &err);
    account_begin(query->work, executor_setup(executor));
    if (!parsed) {
        end(query, &err);
        return;
    }
    open_trace(query);
    gate(query);
}
