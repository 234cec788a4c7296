// SPDX-License-Identifier: Apache-2.0
/* The steps of a query: first its endings, then upwards from the merge to its begin, so that each
 * function stands above those that call it. */
#include "liaison/query/query.h"

#include "liaison/container_of.h"
#include "liaison/own.h"
#include "liaison/query/account.h"
#include "liaison/query/gate.h"
#include "liaison/query/measure_work.h"
#include "liaison/query/rounds.h"
#include "liaison/query/topn_work.h"

#include <assert.h>
#include <stdlib.h>

enum query_state {
    QUERY_WAITING,  /* to be planned: at first, and for nodes or a revision of the schema, while
                       its gate has a timer */
    QUERY_PLANNING, /* for nothing: bytes → plan */
    QUERY_ASKING,   /* for the nodes, once or again; each call has its deadline */
    QUERY_MERGING,  /* for the loop: a share of the answer each turn */
    QUERY_ENDED,    /* to be freed after this turn */
};

struct query {
    struct executor *executor; /* borrow: outlives its queries */
    struct job *job;           /* one count */
    enum query_state state;
    uint64_t began; /* loop_now's clock */
    struct gate gate;
    struct rounds rounds;
    struct loop_task turn; /* in the executor's queue */

    struct charge charge;
    struct arena arena;
    struct msg *bytes;   /* pin: the request */
    struct world *world; /* one count */
    struct chain chain;  /* own: the response so far */
    struct work *work;   /* borrow: region; what this kind of job does at each step */
};

static const struct options *options_of(const struct query *query)
{
    return executor_setup(query->executor)->options;
}

static struct loop *loop_of(const struct query *query)
{
    return executor_loop(query->executor);
}

static bool may_go(enum query_state from, enum query_state to)
{
    static const bool steps[QUERY_ENDED][QUERY_ENDED + 1] = {
        [QUERY_WAITING] = {[QUERY_PLANNING] = true, [QUERY_ENDED] = true},
        [QUERY_PLANNING] = {[QUERY_WAITING] = true, [QUERY_ASKING] = true, [QUERY_ENDED] = true},
        [QUERY_ASKING] = {[QUERY_MERGING] = true, [QUERY_ENDED] = true},
        [QUERY_MERGING] = {[QUERY_ASKING] = true, [QUERY_ENDED] = true}, /* for the next part */
    };
    return from != QUERY_ENDED && steps[from][to];
}

static void set_state(struct query *query, enum query_state state)
{
    assert(may_go(query->state, state));
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
    gate_fini(&query->gate);
    free(query);
}

/* Nothing happens to it any more. What is large goes by turns (frame/spent.h). */
static void give_back(struct query *query)
{
    struct work *work = query->work; /* in the region, which goes last */
    rounds_close(&query->rounds);
    msg_release(&query->bytes);
    world_release(&query->world);
    gate_close(&query->gate);
    executor_unqueue(query->executor, &query->turn);
    if (work->ops->close != NULL) {
        work->ops->close(work);
    }
    chain_fini(&query->chain);
    arena_fini(&query->arena);
    loop_reap(loop_of(query), query, free_query);
}

/* The one way out. `err` NULL: it went well. The client gets the chain, or `err` as the status. */
static void leave(struct query *query, const struct error *err, bool err_is_status)
{
    set_state(query, QUERY_ENDED);
    struct job *job = query->job;
    loop_clock_refresh(loop_of(query));
    if (err_is_status) {
        job_fail(job, err);
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
    enum merge_state state;
    do {
        state = query->work->ops->turn(query->work, err);
    } while (state == MERGE_MORE && !executor_share_is_over(query->executor));
    return state;
}

static void on_turn(struct loop_task *task)
{
    struct query *query = container_of(task, struct query, turn);
    struct error err;
    switch (work_for_a_share(query, &err)) {
    case MERGE_MORE:
        executor_queue(query->executor, &query->turn);
        break;
    case MERGE_FED:
        set_state(query, QUERY_ASKING);
        rounds_go_on(&query->rounds);
        break;
    case MERGE_DONE:
        succeed(query);
        break;
    case MERGE_FAILED:
        fail(query, &err);
        break;
    }
}

/* Planning */

static void on_answered(void *owner, const struct error *failed)
{
    struct query *query = owner;
    if (failed != NULL) {
        struct error err = *failed;
        fail(query, &err);
        return;
    }
    set_state(query, QUERY_MERGING);
    executor_queue(query->executor, &query->turn);
}

static void plan_and_ask(struct query *query)
{
    struct error err;
    if (!query->work->ops->plan(query->work, &err)) {
        tell(query, &err);
        return;
    }
    if (!rounds_prepare(&query->rounds, &err)) {
        if (query->work->ops->answered != NULL) {
            query->work->ops->answered(query->work, &err);
        }
        fail(query, &err);
        return;
    }
    set_state(query, QUERY_ASKING);
    rounds_ask(&query->rounds);
}

static void look_around(struct query *query)
{
    set_state(query, QUERY_PLANNING);
    world_release(&query->world);
    if (executor_world(query->executor) != NULL) {
        query->world = world_retain(executor_world(query->executor));
    }
    query->work->world = query->world;
}

static void gate(struct query *query)
{
    look_around(query);
    if (query->world == NULL || query->world->catalog == NULL) {
        struct error err;
        error_set(&err, ERROR_UNAVAILABLE,
                  "the schema registry has not answered yet: no measure is known; try again soon");
        end(query, &err);
        return;
    }
    switch (gate_pass(&query->gate, query->work)) {
    case REQUEST_GO_ON:
        plan_and_ask(query);
        break;
    case REQUEST_ANSWERED:
        succeed(query);
        break;
    case REQUEST_WAIT:
        set_state(query, QUERY_WAITING);
        break;
    }
}

static void on_retry(struct loop_timer *timer)
{
    gate(container_of(timer, struct query, gate.retry));
}

static void open_work(struct query *query)
{
    static const struct work_ops *const ops[] = {
        [JOB_MEASURE_QUERY] = &measure_work_ops, [JOB_TOPN] = &topn_work_ops};
    struct work *work = work_new(ops[query->job->kind], &query->arena);
    work->options = options_of(query);
    work->chain = &query->chain;
    work->charge = &query->charge;
    work->limit = work_budget(work);
    work->executor = query->executor;
    query->work = work;
}

static void open_rounds(struct query *query)
{
    const struct rounds_setup setup = {
        .executor = query->executor,
        .job = query->job,
        .work = query->work,
        .on_end = on_answered,
        .owner = query,
    };
    rounds_init(&query->rounds, &setup);
    query->work->rounds = &query->rounds;
}

static struct query *query_new(struct executor *executor, struct job *job)
{
    struct query *query = own_array(1, sizeof *query);
    query->executor = executor;
    query->job = job;
    query->state = QUERY_WAITING;
    query->began = loop_now(executor_loop(executor));
    query->charge.parent = executor_charge(executor);
    query->turn.run = on_turn;
    gate_init(&query->gate, executor,
              (uint64_t)options_of(query)->measure_metadata_cache_wait_duration, on_retry);
    size_t budget = (size_t)options_of(query)->measure_vectorized_query_memory_mib << 20;
    arena_init(&query->arena, budget, executor_cache(executor), &query->charge);
    open_chain(query);
    open_work(query);
    open_rounds(query);
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
