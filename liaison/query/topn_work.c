// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/topn_work.h"

#include "frame/envelope.h"
#include "liaison/query/round.h"
#include "liaison/query/topn_trace.h"
#include "liaison/query/topn_window.h"
#include "proto/moment.h"
#include "proto/pbjson_write.h"
#include "proto/topn_response.h"

#include <stdlib.h>

/* A turn's share, in items; a step of ranking the entities costs as much as so many. */
#define ITEMS_PER_TURN 2048
#define RANKING_COST   256

/* What the trailer banyandb-approximate says. */
#define CUT_LISTS   "topn"          /* a node may have more entities than it can be asked for */
#define NOT_BY_TIME "topn-distinct" /* too many intervals: best single values instead */

struct topn_job {
    struct work work; /* first */
    struct topn_request request;
    struct topn *topn; /* borrow: region */
    struct topn_window window;
    struct topn_response response;
    struct topn_trace *trace; /* borrow: region; NULL: not traced */
    size_t answers;           /* with a body */
};

static struct topn_job *job_of(struct work *work)
{
    return (struct topn_job *)work;
}

static bool parse(struct work *work, struct slice bytes, struct error *err)
{
    struct topn_job *job = job_of(work);
    const struct topn_request *request = &job->request;
    topn_response_init(&job->response, work->chain, work_budget(work));
    if (!topn_request_parse(bytes, work->arena, &job->request, err)) {
        return false;
    }
    work->name = request->message->name;
    work->trace = request->trace;
    work->group_count = request->group_count;
    work->groups = request->groups;
    work->begin = moment_nanos(moment_of(request->message->time_range->begin));
    return true;
}

/* Every group's range has few intervals, and they are known. */
static bool is_short(const struct topn_request *request, uint64_t most)
{
    for (size_t i = 0; i < request->group_count; i++) {
        const struct interval_buckets *buckets = &request->rules[i].buckets;
        if (buckets->interval == 0 || buckets->count > most) {
            return false;
        }
    }
    return true;
}

static void choose_mode(struct topn_job *job)
{
    struct topn_plan *plan = &job->request.plan;
    const struct options *options = job->work.options;
    plan->agg.mean_floor = options->mean_floor == MEAN_FLOOR_UPSTREAM;
    if (options->topn != TOPN_RANGE || topn_plan_takes_best(plan)) {
        return;
    }
    plan->every = is_short(&job->request, (uint64_t)options->topn_max_intervals);
    if (!plan->every) {
        job->work.approximate = NOT_BY_TIME;
    }
}

static char *describe(const struct work *work)
{
    const struct topn_job *job = (const struct topn_job *)work;
    return pbjson_write(&job->request.message->base, PBJSON_SET);
}

static void begin_execution(struct topn_job *job)
{
    struct work *work = &job->work;
    struct trace_span *execution = query_trace_execute(&work->trace_tree, "distributed-client");
    if (execution != NULL) {
        char *request = describe(work);
        trace_tag_bytes(execution, "request", slice_str(request));
        free(request);
    }
    job->trace = topn_trace_begin(work, &job->request, execution);
}

static bool plan(struct work *work, struct error *err)
{
    struct topn_job *job = job_of(work);
    const struct catalog *catalog = work->world->catalog;
    if (!topn_request_plan_nodes(&job->request, catalog, work->options->data_node_selector,
                                 work->arena, err)) {
        return false;
    }
    begin_execution(job); /* what is refused from here on is told in the trace */
    if (!topn_request_plan(&job->request, catalog, work->arena, err)) {
        return false;
    }
    choose_mode(job);
    return true;
}

static size_t open_window(struct work *work)
{
    struct topn_job *job = job_of(work);
    job->topn = topn_open(&job->request.plan, work->arena);
    job->window = (struct topn_window){
        .request = &job->request,
        .broadcast = &work->broadcast,
        .arena = work->arena,
        .by_buckets = job->request.plan.every,
        .skips_slow = work->options->skip_slow_replicas,
    };
    return topn_window_open(&job->window, job->topn);
}

static void ask(struct work *work, struct round *round)
{
    topn_window_ask(&job_of(work)->window, round->fanout);
}

/* A node that fails while it is traced sends the trace of that and nothing else. Its lists would
 * stand where data points do. */
static bool is_failure(struct slice body)
{
    struct answer answer;
    struct error ignored; /* what is broken is told by whoever takes it in */
    return envelope_answer(body, &answer, &ignored) && answer.trace_error && !answer.has_points;
}

static bool answer(struct work *work, const struct fanout_source *source, struct msg *msg,
                   struct slice body, struct error *err)
{
    struct topn_job *job = job_of(work);
    (void)msg; /* what is needed of it is kept */
    job->answers += body.len > 0;
    const struct topn_trace_place place = {
        .group = topn_window_group(&job->window, source->question),
        .bucket = topn_window_bucket(&job->window, source->question),
        .rank = source->rank,
    };
    topn_trace_answer(job->trace, place, body);
    if (job->trace != NULL && is_failure(body)) {
        return error_set(err, ERROR_UNKNOWN, "data node trace error");
    }
    topn_window_answer(&job->window, source, body);
    return true;
}

static enum progress take(struct work *work, const struct fanout_source *source, size_t *left,
                          struct error *err)
{
    enum progress progress =
        topn_window_take(&job_of(work)->window, work->front->fanout, source, left, err);
    return progress == PROGRESS_FAILED || work_check_budget(work, err) ? progress : PROGRESS_FAILED;
}

static void answered(struct work *work, const struct error *failed)
{
    (void)failed; /* told by the execution's span */
    topn_trace_answered(job_of(work)->trace);
}

static void tag_results(struct topn_job *job)
{
    struct trace_span *execution = job->work.trace_tree.execution;
    trace_tag(execution, "response_count", "%zu", job->answers);
    if (job->work.result_count > 0) {
        trace_tag(execution, "list_count", "%zu", job->work.result_count);
    }
}

static enum merge_state end(struct topn_job *job)
{
    topn_response_end(&job->response, loop_wall_ns());
    job->work.result_count = job->response.items > 0; /* lists, as upstream counts */
    tag_results(job);
    if (job->window.cut) {
        job->work.approximate = CUT_LISTS;
    }
    return MERGE_DONE;
}

/* One step of the answer; `cost`: what it took of the turn. */
static enum merge_state step(struct topn_job *job, size_t *cost, struct error *err)
{
    struct topn_item item;
    switch (topn_next(job->topn, &item)) {
    case TOPN_MORE:
        *cost += RANKING_COST;
        return MERGE_MORE;
    case TOPN_ITEM:
        *cost += 1;
        return topn_response_item(&job->response, &item, err) ? MERGE_MORE : MERGE_FAILED;
    case TOPN_DONE:
        break;
    }
    return end(job);
}

static enum merge_state turn(struct work *work, struct error *err)
{
    enum merge_state state = MERGE_MORE;
    for (size_t cost = 0; state == MERGE_MORE && cost < ITEMS_PER_TURN;) {
        state = step(job_of(work), &cost, err);
    }
    return state == MERGE_MORE && !work_check_budget(work, err) ? MERGE_FAILED : state;
}

static void wrap(const struct work *work, struct error *err)
{
    topn_request_wrap_error(&((const struct topn_job *)work)->request, err);
}

const struct work_ops topn_work_ops = {
    .size = sizeof(struct topn_job),
    .method = "topn",
    .slow = "top_n slow query",
    .root = "topn-grpc",
    .results = "response_list_count",
    .refusal = "",
    .parse = parse,
    .plan = plan,
    .open = open_window,
    .ask = ask,
    .describe = describe,
    .answer = answer,
    .take = take,
    .answered = answered,
    .turn = turn,
    .wrap = wrap,
};
