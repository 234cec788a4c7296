// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/topn_trace.h"

#include "frame/wire.h"

#define TRACE_FIELD 2 /* of TopNResponse */

struct node_trace {
    struct topn_trace_place place;
    struct slice bytes; /* borrow: region; common.v1.Trace */
};

struct topn_trace {
    struct work *work;            /* borrow */
    struct trace_span *execution; /* borrow: region */
    size_t count;
    size_t left_out;                               /* answers with a trace, beyond the kept ones */
    struct node_trace answers[TRACE_MAX_CHILDREN]; /* by place */
};

struct topn_trace *topn_trace_begin(struct work *work, const struct topn_request *request,
                                    struct trace_span *execution)
{
    if (execution == NULL) {
        return NULL;
    }
    query_trace_tag_selectors(execution, "nodeSelectors", request->groups, request->group_count);
    struct topn_trace *trace = arena_new(work->arena, struct topn_trace);
    *trace = (struct topn_trace){.work = work, .execution = execution};
    return trace;
}

static struct slice trace_of(struct slice body)
{
    struct slice found = slice_of(NULL, 0);
    struct wire wire = wire_of(body);
    struct wire_field field;
    while (wire_next(&wire, &field) == WIRE_FIELD) {
        if (field.number == TRACE_FIELD && field.type == WIRE_BYTES) {
            found = field.bytes;
        }
    }
    return found;
}

static bool stands_before(const struct topn_trace_place *a, const struct topn_trace_place *b)
{
    if (a->group != b->group) {
        return a->group < b->group;
    }
    if (a->bucket != b->bucket) {
        return a->bucket < b->bucket;
    }
    return a->rank < b->rank;
}

/* Where it belongs: behind those of an equal place, which are the same node's earlier answers. */
static size_t place_in(const struct topn_trace *trace, const struct topn_trace_place *place)
{
    size_t at = trace->count;
    while (at > 0 && stands_before(place, &trace->answers[at - 1].place)) {
        at--;
    }
    return at;
}

void topn_trace_answer(struct topn_trace *trace, struct topn_trace_place place, struct slice body)
{
    if (trace == NULL) {
        return;
    }
    struct slice bytes = trace_of(body);
    size_t at = place_in(trace, &place);
    if (bytes.len == 0) {
        return;
    }
    if (at == TRACE_MAX_CHILDREN || !work_keep_trace(trace->work, bytes.len)) {
        trace->left_out++;
        return;
    }
    if (trace->count == TRACE_MAX_CHILDREN) {
        trace->left_out++;
        trace->work->promised -= trace->answers[--trace->count].bytes.len;
    }
    memmove(&trace->answers[at + 1], &trace->answers[at],
            (trace->count - at) * sizeof *trace->answers);
    trace->answers[at] =
        (struct node_trace){.place = place, .bytes = arena_copy(trace->work->arena, bytes)};
    trace->count++;
}

void topn_trace_answered(struct topn_trace *trace)
{
    if (trace == NULL) {
        return;
    }
    for (size_t i = 0; i < trace->count; i++) {
        trace_attach(trace->execution, trace->answers[i].bytes);
    }
    trace_ignore(trace->execution, trace->left_out);
}
