// SPDX-License-Identifier: Apache-2.0
/*
 * The steps of a query, top-down in the order in which they happen.
 *
 * Legal state steps: WAITING → PLANNING, PLANNING → ASKING → MERGING, and any → ENDED.
 */
#include "liaison/query/query.h"

#include "frame/envelope.h"
#include "liaison/query/broadcast.h"
#include "liaison/query/fanout.h"
#include "merge/merge.h"
#include "proto/response.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define MODULE "DISTRIBUTED-QUERY"

/* A turn's share of a long merge: some milliseconds. */
#define ROWS_PER_TURN 4096

enum query_state {
    QUERY_WAITING,  /* for a revision of the schema; guarded by gate_until */
    QUERY_PLANNING, /* for nothing: bytes → plan */
    QUERY_ASKING,   /* for the nodes; each call has its deadline */
    QUERY_MERGING,  /* for the loop: a share of rows each turn */
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
    struct loop_task turn;

    struct charge charge;
    struct arena arena;
    struct msg *bytes;   /* pin: the request */
    struct world *world; /* one count */
    struct request request;
    struct fanout *fanout; /* borrow: region */
    struct merge *merge;   /* borrow: region */
    struct chain chain;    /* own: the response so far */
    struct response response;
};

static const struct options *options_of(const struct query *query)
{
    return executor_setup(query->executor)->options;
}

static struct loop *loop_of(const struct query *query)
{
    return executor_loop(query->executor);
}

static size_t budget_of(const struct query *query)
{
    return (size_t)options_of(query)->measure_vectorized_query_memory_mib << 20;
}

static void set_state(struct query *query, enum query_state state)
{
    bool legal = state == QUERY_ENDED ? query->state != QUERY_ENDED
                                      : state >= query->state || state == QUERY_WAITING;
    assert(legal);
    query->state = state;
}

/* Endings */

static void free_query(void *object)
{
    struct query *query = object;
    loop_timer_fini(&query->retry);
    free(query);
}

static void log_if_slow(const struct query *query, uint64_t took)
{
    const struct options *options = options_of(query);
    if (options->dst_slow_query <= 0 || took <= (uint64_t)options->dst_slow_query ||
        query->request.message == NULL || query->request.trace) {
        return;
    }
    log_warn(executor_setup(query->executor)->log, MODULE,
             "measure slow query; latency=%.3f measure=%s group=%s resp_count=%zu peak_bytes=%zu",
             (double)took / 1e6, query->request.message->name, query->request.message->groups[0],
             query->response.rows, query->charge.peak);
}

static void count(const struct query *query, enum metric metric, int64_t amount)
{
    const struct request *request = &query->request;
    for (size_t i = 0; i < request->group_count; i++) {
        char group[128];
        snprintf(group, sizeof group, "%.*s", SLICE_ARG(request->groups[i].name));
        const char *labels[] = {group, "measure", "query"};
        metrics_add(metrics_series(executor_setup(query->executor)->metrics, metric, labels),
                    amount);
    }
}

static void count_incomplete(const struct query *query)
{
    for (size_t i = 0; i < query->request.group_count; i++) {
        char group[128];
        snprintf(group, sizeof group, "%.*s", SLICE_ARG(query->request.groups[i].name));
        const char *labels[] = {group};
        metrics_add(
            metrics_series(executor_setup(query->executor)->metrics, METRIC_INCOMPLETE, labels), 1);
    }
}

static void count_refused(const struct query *query, const struct error *err)
{
    if (err->code == ERROR_RESOURCE_EXHAUSTED) {
        const char *labels[] = {"query_memory"};
        metrics_add(
            metrics_series(executor_setup(query->executor)->metrics, METRIC_REFUSED, labels), 1);
    }
}

static void give_back(struct query *query)
{
    fanout_close(&query->fanout);
    merge_close(&query->merge);
    chain_fini(&query->chain);
    msg_release(&query->bytes);
    arena_fini(&query->arena);
    world_release(&query->world);
    loop_timer_stop(&query->retry);
}

/* The one way out. `err` NULL: the response is in the chain. */
static void end(struct query *query, const struct error *err)
{
    set_state(query, QUERY_ENDED);
    struct job *job = query->job;
    loop_clock_refresh(loop_of(query));
    uint64_t took = loop_now(loop_of(query)) - query->began;
    count(query, METRIC_FINISHED, 1);
    if (job->incomplete != NULL) {
        count_incomplete(query);
    }
    count(query, METRIC_LATENCY, (int64_t)took);
    if (err != NULL) {
        count(query, METRIC_ERR, 1);
        count_refused(query, err);
        job->status = *err;
    } else {
        chain_move(&query->chain, &job->response);
        log_if_slow(query, took);
    }
    job->query = NULL;
    give_back(query);
    loop_reap(loop_of(query), query, free_query);
    executor_job_ended(query->executor, job);
    loop_post(job->edge, &job->done); /* carries the query's count */
}

static void fail(struct query *query, struct error *err)
{
    request_wrap_error(&query->request, err);
    end(query, err);
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

static bool check_budget(const struct query *query, struct error *err)
{
    if (query->charge.total <= budget_of(query)) {
        return true;
    }
    return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "the query holds %zu bytes of its %zu (--measure-vectorized-query-memory-mib"
                     "=%lld); ask for a narrower time range, fewer tags or fields, or a limit",
                     query->charge.total, budget_of(query),
                     (long long)options_of(query)->measure_vectorized_query_memory_mib);
}

static void on_turn(struct loop_task *task)
{
    struct query *query = (struct query *)((char *)task - offsetof(struct query, turn));
    if (query->state != QUERY_MERGING) {
        return; /* cancelled since */
    }
    struct error err;
    enum merge_state state = merge_run(query->merge, &query->response.sink, ROWS_PER_TURN, &err);
    if (state != MERGE_FAILED && !check_budget(query, &err)) {
        state = MERGE_FAILED;
    }
    switch (state) {
    case MERGE_MORE:
        loop_defer(loop_of(query), &query->turn);
        break;
    case MERGE_DONE:
        response_statuses(&query->response, &query->request);
        end(query, NULL);
        break;
    case MERGE_FAILED:
        error_prefix(&err, "vec distributed plan: merge rows");
        fail(query, &err);
        break;
    }
}

/* Asking */

static bool on_answer(void *owner, size_t group, size_t rank, struct msg *msg, struct slice body,
                      struct error *err)
{
    struct query *query = owner;
    struct answer answer;
    if (!envelope_answer(body, &answer, err)) {
        return false;
    }
    if (answer.frame.len > 0) {
        return merge_feed(query->merge, group, rank, msg, answer.frame, err) &&
               check_budget(query, err);
    }
    if (answer.has_points) {
        return error_set(
            err, ERROR_UNKNOWN,
            "vec distributed plan: got data_points proto response under raw wire mode");
    }
    if (answer.trace_error) {
        return error_set(err, ERROR_UNKNOWN, "data node trace error");
    }
    return true;
}

static void on_complete(void *owner, const struct error *failed)
{
    struct query *query = owner;
    if (failed != NULL) {
        struct error err = *failed;
        fail(query, &err);
        return;
    }
    set_state(query, QUERY_MERGING);
    loop_defer(loop_of(query), &query->turn);
}

/* A message is refused before it is buffered when it cannot fit. */
static bool admit(void *owner, size_t declared, struct error *err)
{
    const struct query *query = owner;
    size_t budget = budget_of(query);
    if (query->charge.total + declared <= budget) {
        return true;
    }
    return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "a node's answer of %zu bytes does not fit the query's memory budget: %zu of "
                     "%zu bytes are in use; ask for a narrower time range, fewer tags, or a limit",
                     declared, query->charge.total, budget);
}

static bool ask(struct query *query, struct error *err)
{
    static const struct fanout_events events = {
        .admit = admit, .on_answer = on_answer, .on_complete = on_complete};
    struct broadcast broadcast = {
        .executor = query->executor,
        .world = query->world,
        .request = &query->request,
        .arena = &query->arena,
        .charge = &query->charge,
        .client_deadline = query->job->deadline,
    };
    bool prepared = broadcast_prepare(&broadcast, err);
    query->job->incomplete = broadcast.incomplete;
    if (!prepared) {
        return false;
    }
    query->merge =
        merge_open(&query->request.plan, options_of(query)->frame_versions, &query->arena);
    query->fanout = fanout_open(&query->arena, broadcast.call_count, &events, query);
    set_state(query, QUERY_ASKING);
    broadcast_ask(&broadcast, query->fanout);
    return true;
}

/* Planning */

static void plan_and_ask(struct query *query)
{
    struct error err;
    if (!request_plan(&query->request, query->world->catalog, options_of(query)->data_node_selector,
                      &query->arena, &err)) {
        end(query, &err);
        return;
    }
    if (!ask(query, &err)) {
        fail(query, &err);
    }
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

static void gate(struct query *query)
{
    set_state(query, QUERY_PLANNING);
    world_release(&query->world);
    if (executor_world(query->executor) != NULL) {
        query->world = world_retain(executor_world(query->executor));
    }
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
    bool may_wait = loop_now(loop_of(query)) < query->gate_until;
    switch (request_gate(&query->request, query->world->catalog, may_wait)) {
    case REQUEST_GO_ON:
        plan_and_ask(query);
        break;
    case REQUEST_ANSWERED:
        response_statuses(&query->response, &query->request);
        end(query, NULL);
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
    loop_timer_init(&query->retry, executor_loop(executor), on_retry);
    arena_init(&query->arena, budget_of(query), executor_cache(executor), &query->charge);
    chain_init(&query->chain, &query->charge);
    response_init(&query->response, &query->chain, budget_of(query), &query->arena);
    return query;
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
    bool parsed = request_parse(msg_bytes(query->bytes), &query->arena, &query->request, &err);
    count(query, METRIC_STARTED, 1);
    if (!parsed) {
        end(query, &err);
        return;
    }
    gate(query);
}
