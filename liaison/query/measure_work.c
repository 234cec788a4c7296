// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/measure_work.h"

#include "frame/envelope.h"
#include "liaison/query/measure_parts.h"
#include "liaison/query/measure_rows.h"
#include "liaison/query/measure_trace.h"
#include "liaison/query/pushdown.h"
#include "liaison/query/rounds.h"
#include "proto/moment.h"
#include "proto/pbjson_write.h"
#include "proto/response.h"

#include <stdlib.h>
#include <string.h>

/* Between two looks at the clock and at what is held. */
#define ROWS_PER_TURN 512

struct measure {
    struct work work; /* first */
    struct request request;
    bool rows_alone;            /* partials did not do: nodes are asked again */
    struct arena merged;        /* the merge and what it keeps */
    struct merge *merge;        /* borrow: `merged` */
    struct measure_parts parts; /* FOLD */
    struct measure_rows rows;
    struct response response;
    struct measure_trace *trace; /* borrow: region; NULL: not traced */
    bool taking;                 /* a frame is on its way into the merge */
    bool merging;
};

static struct measure *measure_of(struct work *work)
{
    return (struct measure *)work;
}

static bool parse(struct work *work, struct slice bytes, struct error *err)
{
    struct measure *measure = measure_of(work);
    struct request *request = &measure->request;
    response_init(&measure->response, work->chain, work_budget(work), work->arena);
    if (!request_parse(bytes, work->arena, request, err)) {
        return false;
    }
    work->name = request->message->name;
    work->trace = request->trace;
    work->group_count = request->group_count;
    work->groups = request->groups;
    return true;
}

static enum request_step gate(struct work *work, bool may_wait)
{
    struct measure *measure = measure_of(work);
    enum request_step step = request_gate(&measure->request, work->world->catalog, may_wait);
    if (step == REQUEST_ANSWERED) {
        response_statuses(&measure->response, &measure->request);
    }
    /* The gate may have moved it. */
    work->begin = moment_nanos(moment_of(measure->request.message->time_range->begin));
    return step;
}

/* What nodes would refuse is refused by the plan, and told where clients look for it. */
static bool plan(struct work *work, struct error *err)
{
    struct request *request = &measure_of(work)->request;
    bool planned = request_plan(request, work->world->catalog, work->options->data_node_selector,
                                work->arena, err);
    if (request->executes) {
        query_trace_execute(&work->trace_tree, "distributed-%s", work->options->node_name);
    }
    return planned;
}

static void choose_mode(struct measure *measure)
{
    const struct work *work = &measure->work;
    struct request *request = &measure->request;
    if (request_aggregates(request)) {
        enum plan_mode mode =
            measure->rows_alone ? PLAN_FOLD : pushdown_mode(request, work->world, work->executor);
        request_aggregate_by(request, mode, work->options->mean_floor == MEAN_FLOOR_UPSTREAM);
    }
}

static bool pulls(const struct measure *measure)
{
    return measure->request.plan.mode == PLAN_FOLD;
}

static void begin_merge(struct measure *measure)
{
    struct work *work = &measure->work;
    choose_mode(measure);
    if (pulls(measure) && measure->parts.asked == 0) {
        measure_parts_init(&measure->parts, work, &measure->request);
    }
    arena_init(&measure->merged, work_budget(work), executor_cache(work->executor), work->charge);
    measure->merge =
        merge_open(&measure->request.plan, work->options->frame_versions, &measure->merged);
    measure_rows_init(&measure->rows, work, &measure->request, measure->response.limit_bytes);
}

/* Nothing is kept of the answers that came. */
static void end_merge(struct measure *measure)
{
    merge_close(&measure->merge);
    arena_fini(&measure->merged);
}

static size_t open_merge(struct work *work)
{
    struct measure *measure = measure_of(work);
    if (measure->merge == NULL) {
        begin_merge(measure);
    }
    const size_t calls = broadcast_calls(&work->broadcast);
    if (pulls(measure)) {
        measure_parts_begin(&measure->parts, calls);
    }
    return calls;
}

static size_t choose_ahead(struct work *work, struct round *round)
{
    struct measure *measure = measure_of(work);
    const bool more = pulls(measure) && measure_parts_ahead(&measure->parts, round);
    return more ? broadcast_calls(&work->broadcast) : 0;
}

static void ask(struct work *work, struct round *round)
{
    struct measure *measure = measure_of(work);
    struct measure_parts_range room;
    const Banyandb__Model__V1__TimeRange *range =
        pulls(measure) ? measure_parts_range(&measure->parts, &round->slice, &room)
                       : measure->request.message->time_range;
    if (measure->trace == NULL) {
        measure->trace = measure_trace_begin(work, &measure->request, work->trace_tree.execution);
    }
    measure_trace_ask(measure->trace, range);
    for (size_t i = 0; i < work->group_count; i++) {
        const struct broadcast_question question = {
            .number = i,
            .group = i,
            .topic = "v1:internal-measure-query",
            .body = request_push_part(&measure->request, i, range, &round->region),
        };
        broadcast_ask(&work->broadcast, round->fanout, &question);
    }
}

static bool admit(struct work *work, const struct fanout_source *source, size_t declared,
                  struct slice head, struct error *err)
{
    return measure_rows_admit(&measure_of(work)->rows, source, declared, head, err);
}

static void count_frame(struct work *work, struct slice frame)
{
    uint8_t version = decode_version(frame);
    if (version == 3 || version == 4) {
        work->frames[version - 3]++;
    }
}

/* What came must be a frame, or nothing. */
static bool begin_to_take(struct work *work, const struct fanout_source *source, struct msg *msg,
                          const struct answer *answer, struct error *err)
{
    struct measure *measure = measure_of(work);
    measure->taking = answer->frame.len > 0;
    if (measure->taking) {
        count_frame(work, answer->frame);
        if (!measure_rows_take(&measure->rows, source, answer->frame, err)) {
            return false;
        }
        merge_offer(measure->merge, source->question, source->rank, msg, answer->frame);
        return true;
    }
    if (answer->has_points) {
        return error_set(
            err, ERROR_UNKNOWN,
            "vec distributed plan: got data_points proto response under raw wire mode");
    }
    if (answer->trace_error) {
        return error_set(err, ERROR_UNKNOWN, "data node trace error");
    }
    return true;
}

static bool answer(struct work *work, const struct fanout_source *source, struct msg *msg,
                   struct slice body, struct error *err)
{
    struct measure_trace *trace = measure_of(work)->trace;
    struct answer answer;
    if (!envelope_answer(body, &answer, err)) {
        return false;
    }
    measure_trace_answer(trace, source, answer.frame.len, answer.trace);
    if (!begin_to_take(work, source, msg, &answer, err)) {
        measure_trace_refuse(trace, source);
        return false;
    }
    return true;
}

static enum progress take(struct work *work, const struct fanout_source *source, size_t *left,
                          struct error *err)
{
    struct measure *measure = measure_of(work);
    if (!measure->taking) {
        return PROGRESS_DONE;
    }
    enum progress progress = merge_take(measure->merge, left, err);
    if (progress != PROGRESS_FAILED && !work_check_budget(work, err)) {
        progress = PROGRESS_FAILED;
    }
    measure->taking = progress == PROGRESS_MORE;
    if (progress == PROGRESS_FAILED) {
        measure_trace_refuse(measure->trace, source);
    }
    return progress;
}

static bool ask_for_rows(struct measure *measure, const struct error *failed)
{
    const struct error *why = pushdown_why_rows(
        (enum aggregation_mode)measure->work.options->aggregation, measure->merge, failed);
    if (why == NULL) {
        return false;
    }
    measure->rows_alone = true;
    end_merge(measure);
    measure_trace_again(measure->trace, why);
    return true;
}

/* Here, or on a node, which then says how much it may read for one question. */
static bool is_too_much(const struct error *failed)
{
    return failed->code == ERROR_RESOURCE_EXHAUSTED ||
           strstr(failed->text, "block scan quota exceeded") != NULL;
}

static bool ask_for_less(struct measure *measure, struct error *failed)
{
    const struct error why = failed == NULL ? (struct error){.code = ERROR_NONE} : *failed;
    if (failed == NULL || !is_too_much(failed) || !measure_parts_shorten(&measure->parts, failed)) {
        return false;
    }
    merge_forget(measure->merge);
    measure_trace_again(measure->trace, &why);
    return true;
}

/* What was not asked alone and has failed is asked again, alone: only what comes then is told. */
static bool ask_alone(struct measure *measure, const struct error *failed)
{
    struct work *work = &measure->work;
    if (failed == NULL || !work->front->tentative || work->front->refused) {
        return false;
    }
    rounds_begin_again(work->rounds);
    merge_forget(measure->merge);
    return true;
}

static bool ask_again(struct work *work, struct error *failed)
{
    struct measure *measure = measure_of(work);
    switch (measure->request.plan.mode) {
    case PLAN_ROWS:
        return false;
    case PLAN_PARTIALS:
        return ask_for_rows(measure, failed);
    case PLAN_FOLD:
        return ask_alone(measure, failed) || ask_for_less(measure, failed);
    }
    return false;
}

/* The answers to one question for the whole range fit, but not with what became of them. */
static bool begin_anew(struct measure *measure, struct error *failed)
{
    if (!pulls(measure) || measure->parts.cut || measure->response.rows > 0 ||
        !is_too_much(failed) || !measure_parts_shorten(&measure->parts, failed)) {
        return false;
    }
    measure->rows_alone = true;
    end_merge(measure);
    return true;
}

static void begin_merging(struct measure *measure)
{
    if (!measure->merging) {
        measure->merging = true;
        measure_trace_merge(measure->trace);
    }
}

static enum merge_state fail_merging(struct measure *measure, struct error *err)
{
    if (begin_anew(measure, err)) {
        return MERGE_FED;
    }
    error_prefix(err, "vec distributed plan");
    measure_trace_failed(measure->trace, err);
    return MERGE_FAILED;
}

static void end_merging(struct measure *measure)
{
    struct work *work = &measure->work;
    const struct merge_counts counts = merge_count(measure->merge);
    response_statuses(&measure->response, &measure->request);
    work->result_count = measure->response.rows;
    work->bad_texts = measure->response.bad_texts;
    measure_trace_merged(measure->trace, &counts, work->result_count);
}

static enum merge_state turn(struct work *work, struct error *err)
{
    struct measure *measure = measure_of(work);
    begin_merging(measure);
    enum merge_state state = merge_run(measure->merge, &measure->response.sink, ROWS_PER_TURN, err);
    if (state == MERGE_FAILED || !work_check_budget(work, err)) {
        return fail_merging(measure, err);
    }
    if (state == MERGE_FED) {
        measure_parts_next(&measure->parts);
    }
    if (state == MERGE_DONE) {
        end_merging(measure);
    }
    return state;
}

static void wrap(const struct work *work, struct error *err)
{
    request_wrap_error(&((const struct measure *)work)->request, err);
}

static char *describe(const struct work *work)
{
    const struct measure *measure = (const struct measure *)work;
    return pbjson_write(&measure->request.message->base, PBJSON_SET);
}

static void answered(struct work *work, const struct error *failed)
{
    struct measure *measure = measure_of(work);
    if (measure->trace == NULL) { /* untraced, or there was nobody to ask */
        measure->trace = measure_trace_begin(work, &measure->request, work->trace_tree.execution);
        measure_trace_ask(measure->trace, measure->request.message->time_range);
    }
    measure_trace_answered(measure->trace, failed);
    if (failed == NULL && pulls(measure)) {
        measure_parts_end(&measure->parts, merge_has_rows(measure->merge));
        merge_expect(measure->merge, !measure_parts_is_last(&measure->parts));
    }
}

static void close_merge(struct work *work)
{
    struct measure *measure = measure_of(work);
    if (measure->merge != NULL) {
        end_merge(measure);
    }
}

const struct work_ops measure_work_ops = {
    .size = sizeof(struct measure),
    .method = "query",
    .slow = "measure slow query",
    .root = "measure-grpc",
    .results = "response_data_point_count",
    .refusal = "vec distributed plan: broadcast",
    .parse = parse,
    .gate = gate,
    .plan = plan,
    .open = open_merge,
    .ask = ask,
    .ahead = choose_ahead,
    .describe = describe,
    .admit = admit,
    .answer = answer,
    .take = take,
    .answered = answered,
    .again = ask_again,
    .turn = turn,
    .wrap = wrap,
    .close = close_merge,
};
