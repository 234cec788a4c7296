// SPDX-License-Identifier: Apache-2.0
/*
 * Nodes answer in any order; their traces are kept until all are in and attached by group and by
 * the nodes' names, so that the tree, too, is a function of the data.
 */
#include "liaison/query/measure_trace.h"

#include "proto/request_rules.h"

#include <stdlib.h>

#define SHOWN_BROADCASTS 12

struct node_trace {
    size_t group;
    size_t rank;
    size_t frame_bytes;
    struct slice bytes; /* borrow: region; common.v1.Trace */
    bool left_out;      /* it did not fit */
};

struct measure_trace {
    struct work *work;              /* borrow */
    const struct request *request;  /* borrow */
    struct trace *tree;             /* borrow */
    struct trace_span *execution;   /* borrow */
    struct trace_span **broadcasts; /* borrow: region; one for each group */
    struct trace_span *merge;       /* borrow: region */
    size_t *taken;                  /* borrow: region; by group: nodes whose answers were good */
    size_t rounds;                  /* of questions */
    size_t frames;                  /* in those that were merged */
    size_t answer_count;
    struct node_trace *answers; /* borrow: region; room for all */
};

static bool aggregates(const struct measure_trace *trace)
{
    return trace->request->plan.mode != PLAN_ROWS;
}

static bool is_multi(const struct measure_trace *trace)
{
    return trace->request->group_count > 1;
}

static struct trace_span *open_span(struct measure_trace *trace, const char *name)
{
    return trace_span(trace->tree, trace->execution, loop_wall_ns(), "%s", name);
}

static void tag_execution(struct measure_trace *trace)
{
    const struct plan *plan = &trace->request->plan;
    trace_tag(trace->execution, "plan", "vec-distributed%s%s%s", aggregates(trace) ? ":agg" : "",
              plan->key_count > 0 ? ":group-by" : "", plan->top.number > 0 ? ":top" : "");
    query_trace_tag_selectors(trace->execution, "node_selectors", trace->request->groups,
                              trace->request->group_count);
}

static void open_broadcast(struct measure_trace *trace, size_t i,
                           const Banyandb__Model__V1__TimeRange *range)
{
    const struct request_group *group = &trace->request->groups[i];
    const struct options *options = trace->work->options;
    char text[256];
    request_rules_range_text(range, text, sizeof text);
    if (is_multi(trace)) {
        trace->broadcasts[i] = trace_span(trace->tree, trace->execution, loop_wall_ns(),
                                          "broadcast-per-group-%.*s", SLICE_ARG(group->name));
        trace_tag(trace->broadcasts[i], "group_name", "%.*s", SLICE_ARG(group->name));
        trace_tag(trace->broadcasts[i], "node_count", "%zu", group->selector_count);
        if (trace->rounds > 1) {
            trace_tag(trace->broadcasts[i], "time_range", "%s", text);
        }
        return;
    }
    trace->broadcasts[i] = open_span(trace, aggregates(trace) ? "broadcast-agg" : "broadcast-rows");
    trace_tag(trace->broadcasts[i], "node_count", "%zu", group->selector_count);
    trace_tag(trace->broadcasts[i], "broadcast_timeout_ms", "%llu",
              (unsigned long long)duration_ms(options->dst_broadcast_timeout));
    trace_tag(trace->broadcasts[i], "time_range", "%s", text);
}

struct measure_trace *measure_trace_begin(struct work *work, const struct request *request,
                                          struct trace_span *execution)
{
    if (execution == NULL) {
        return NULL;
    }
    struct measure_trace *trace = arena_new(work->arena, struct measure_trace);
    *trace = (struct measure_trace){
        .work = work, .request = request, .tree = work->trace_tree.tree, .execution = execution};
    trace->answers = arena_array(work->arena, struct node_trace, broadcast_calls(&work->broadcast));
    trace->taken = arena_array(work->arena, size_t, request->group_count);
    trace->broadcasts = arena_array(work->arena, struct trace_span *, request->group_count);
    tag_execution(trace);
    return trace;
}

/* The tree takes so many spans on a level, and some are to follow. */
static bool is_shown(const struct measure_trace *trace)
{
    return trace->rounds == 1 || trace->rounds * trace->request->group_count <= SHOWN_BROADCASTS;
}

void measure_trace_ask(struct measure_trace *trace, const Banyandb__Model__V1__TimeRange *range)
{
    if (trace == NULL) {
        return;
    }
    trace->rounds++;
    trace->answer_count = 0;
    memset(trace->taken, 0, trace->request->group_count * sizeof *trace->taken);
    for (size_t i = 0; i < trace->request->group_count; i++) {
        trace->broadcasts[i] = NULL;
        if (is_shown(trace)) {
            open_broadcast(trace, i, range);
        }
    }
}

void measure_trace_answer(struct measure_trace *trace, const struct fanout_source *source,
                          size_t frame_bytes, struct slice node_trace)
{
    if (trace == NULL) {
        return;
    }
    struct node_trace *answer = &trace->answers[trace->answer_count++];
    *answer = (struct node_trace){
        .group = source->question, .rank = source->rank, .frame_bytes = frame_bytes};
    if (is_shown(trace) && node_trace.len > 0) {
        answer->left_out = !work_keep_trace(trace->work, node_trace.len);
    }
    if (is_shown(trace) && !answer->left_out) {
        answer->bytes = arena_copy(trace->work->arena, node_trace);
    }
    trace->taken[source->question]++;
}

void measure_trace_refuse(struct measure_trace *trace, const struct fanout_source *source)
{
    if (trace != NULL) {
        trace->taken[source->question]--;
    }
}

static int by_group_and_rank(const void *a, const void *b)
{
    const struct node_trace *node_a = a;
    const struct node_trace *node_b = b;
    if (node_a->group != node_b->group) {
        return node_a->group < node_b->group ? -1 : 1;
    }
    return (node_a->rank > node_b->rank) - (node_a->rank < node_b->rank);
}

static size_t count_frames(const struct measure_trace *trace, size_t group, size_t *bytes_out)
{
    size_t frames = 0;
    *bytes_out = 0;
    for (size_t i = 0; i < trace->answer_count; i++) {
        const struct node_trace *answer = &trace->answers[i];
        if (answer->frame_bytes > 0 && (group == SIZE_MAX || answer->group == group)) {
            frames++;
            *bytes_out += answer->frame_bytes;
        }
    }
    return frames;
}

static void close_broadcast(struct measure_trace *trace, size_t group, const struct error *failed)
{
    struct trace_span *span = trace->broadcasts[group];
    const size_t asked = broadcast_size(&trace->work->broadcast, group);
    size_t bytes;
    size_t frames = count_frames(trace, group, &bytes);
    if (asked > 0) {
        trace_tag(span, "response_count", "%zu", frames);
    }
    if (asked > 0 && !is_multi(trace)) {
        trace_tag(span, "frame_bytes_total", "%zu", bytes);
    }
    if (failed != NULL && (asked == 0 || trace->taken[group] < asked)) {
        trace_fail(span, failed->text);
    }
    trace_end(span, loop_wall_ns());
}

static void attach_answers(struct measure_trace *trace)
{
    qsort(trace->answers, trace->answer_count, sizeof *trace->answers, by_group_and_rank);
    for (size_t i = 0; i < trace->answer_count; i++) {
        struct trace_span *broadcast = trace->broadcasts[trace->answers[i].group];
        trace_attach(broadcast, trace->answers[i].bytes);
        trace_ignore(broadcast, trace->answers[i].left_out);
    }
}

void measure_trace_again(struct measure_trace *trace, const struct error *why)
{
    if (trace == NULL) {
        return;
    }
    attach_answers(trace);
    for (size_t i = 0; i < trace->request->group_count; i++) {
        trace_tag(trace->broadcasts[i], "asked_again", "%s", why->text);
        close_broadcast(trace, i, NULL);
    }
}

void measure_trace_answered(struct measure_trace *trace, const struct error *failed)
{
    if (trace == NULL) {
        return;
    }
    attach_answers(trace);
    size_t bytes;
    trace->frames += count_frames(trace, SIZE_MAX, &bytes);
    for (size_t i = 0; i < trace->request->group_count; i++) {
        close_broadcast(trace, i, failed);
    }
}

static void build_schema_span(struct measure_trace *trace)
{
    const struct layout *layout = trace->request->plan.layout;
    struct trace_span *span = open_span(trace, "build-multi-group-schema");
    size_t columns = layout == NULL ? 0 : 4 + layout->tag_count + layout->field_count;
    trace_tag(span, "groups_in", "%zu", trace->request->group_count);
    trace_tag(span, "schema_cols", "%zu", columns);
    trace_tag(span, "schema_degraded", "false");
    trace_end(span, loop_wall_ns());
}

void measure_trace_merge(struct measure_trace *trace)
{
    if (trace == NULL) {
        return;
    }
    if (aggregates(trace)) {
        trace->merge = open_span(trace, "reduce-raw-frames");
    } else if (is_multi(trace)) {
        build_schema_span(trace);
        trace->merge = open_span(trace, "merge-distributed-rows-multi");
    } else {
        trace->merge = open_span(trace, "merge-distributed-rows");
    }
}

/* Known when the last ones have come. */
static void tag_frames(struct measure_trace *trace)
{
    trace_tag(trace->merge, aggregates(trace) ? "frames_in" : "sources_in", "%zu", trace->frames);
    if (trace->rounds > 1) {
        trace_tag(trace->merge, "rounds_of_questions", "%zu", trace->rounds);
    }
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

static void tag_merge(struct measure_trace *trace, uint64_t rows)
{
    const struct plan *plan = &trace->request->plan;
    trace_tag(trace->merge, "rows_out", "%llu", (unsigned long long)rows);
    if (aggregates(trace)) {
        trace_tag(trace->merge, "groups_out", "%llu", (unsigned long long)rows);
        trace_tag(trace->merge, "agg_value_path", "typed");
    } else if (!is_multi(trace)) {
        trace_tag(trace->merge, "orderby_col_idx", "-1");
        trace_tag(trace->merge, "orderby_family", "%.*s", SLICE_ARG(plan->order_tag.family));
        trace_tag(trace->merge, "orderby_tag", "%.*s", SLICE_ARG(plan->order_tag.name));
        trace_tag(trace->merge, "desc", "%s", truth(plan->descending));
        trace_tag(trace->merge, "index_mode", "%s", truth(plan->index_mode));
    }
}

/* What a stage let through, and what it did not because of `reason`. */
static void tag_stage(struct trace_span *span, uint64_t rows_in, uint64_t rows_out,
                      const char *reason)
{
    trace_tag(span, "rows_in", "%llu", (unsigned long long)rows_in);
    trace_tag(span, "rows_out", "%llu", (unsigned long long)rows_out);
    trace_tag(span, "dropped_rows", "%llu", (unsigned long long)(rows_in - rows_out));
    trace_tag(span, "drop_reason", "%s", reason);
    trace_end(span, loop_wall_ns());
}

static void top_span(struct measure_trace *trace, uint64_t rows)
{
    const struct plan_top *top = &trace->request->plan.top;
    if (!aggregates(trace) || top->number <= 0 || rows == 0) {
        return;
    }
    struct trace_span *span = open_span(trace, "apply-top-to-reduce");
    trace_tag(span, "top_n", "%lld", (long long)top->number);
    trace_tag(span, "top_asc", "%s", truth(top->ascending));
    tag_stage(span, rows, rows < (uint64_t)top->number ? rows : (uint64_t)top->number, "top");
}

static void last_spans(struct measure_trace *trace, uint64_t cut, size_t rows)
{
    const struct plan *plan = &trace->request->plan;
    struct trace_span *limit = open_span(trace, "limit");
    trace_tag(limit, "limit_n", "%llu", (unsigned long long)plan->limit);
    trace_tag(limit, "limit_offset", "%llu", (unsigned long long)plan->offset);
    tag_stage(limit, cut, rows, "limit");
    struct trace_span *iterator = open_span(trace, "iterator");
    trace_tag(iterator, "rounds", "%zu", rows);
    trace_tag(iterator, "size", "%zu", rows);
    trace_end(iterator, loop_wall_ns());
}

void measure_trace_failed(struct measure_trace *trace, const struct error *why)
{
    if (trace != NULL) {
        tag_frames(trace);
        trace_fail(trace->merge, why->text);
        trace_end(trace->merge, loop_wall_ns());
    }
}

void measure_trace_merged(struct measure_trace *trace, const struct merge_counts *counts,
                          size_t rows)
{
    if (trace == NULL) {
        return;
    }
    tag_frames(trace);
    tag_merge(trace, counts->merged);
    trace_end(trace->merge, loop_wall_ns());
    top_span(trace, counts->ranked);
    last_spans(trace, counts->cut, rows);
}
