// SPDX-License-Identifier: Apache-2.0
/*
 * What a node is asked for: the client's request with a few fields changed.
 *
 *     InternalQueryRequest.request { groups, time_range, projections, limit, trace │ carried }
 *                                    └───────────── small, made anew ────────────┘
 *
 * The parts that stay the same are copied as bytes, so criteria of any size cost one copy, and
 * fields that this version does not know reach the node.
 *
 * Nodes never see top, and group_by with aggregates alone. A node that groups rows keeps one row
 * of each key and sends no other, and that can be the wrong one: it may be an older version of a
 * row that another node has under another key; to a node null is the same key as 0 or ""; and it
 * puts rows without a sort key last, where here they may come first. Ranking those rows by a field
 * and cutting them, as upstream has nodes do, loses more. So all rows are asked for and grouped and
 * ranked here.
 */
#include "proto/pbw.h"
#include "proto/request.h"
#include "proto/request_projection.h"

typedef Banyandb__Measure__V1__QueryRequest query_request;

/* In how many rows, or groups, an answer of a node may end.
 *
 * A node sends the first rows in order, and no row of the answer lies behind its first
 * offset + limit ones. That holds for rows alone:
 * - in index mode a node cuts before it sorts;
 * - a group's first row may come after any number of rows of other groups, and the best row of a
 *   top after all others;
 * - a node's group that is cut off is missing in the sum over all nodes.
 * And a node puts rows without a value last, where an ascending order by a tag has them first: so
 * that they come, a node is asked for a good number of rows, which most measures do not have. */
#define ROWS_FOR_NULLS 10000

static uint32_t pushed_limit(const struct plan *plan,
                             const Banyandb__Database__V1__Measure *measure)
{
    bool any_may_count = measure->index_mode || plan->mode != PLAN_ROWS || plan->key_count > 0 ||
                         plan->top.number > 0;
    uint64_t rows = plan->offset + plan->limit;
    if (plan->order == PLAN_BY_TAG && !plan->descending && rows < ROWS_FOR_NULLS) {
        rows = ROWS_FOR_NULLS;
    }
    return any_may_count || rows > UINT32_MAX ? UINT32_MAX : (uint32_t)rows;
}

/* Field 2, agg_return_partial: true */
static const uint8_t partial_field[] = {0x10, 0x01};

static struct slice pack(const query_request *changed, const struct request *request,
                         struct arena *arena)
{
    size_t changed_size = banyandb__measure__v1__query_request__get_packed_size(changed);
    size_t inner = changed_size + request->carried.len;
    size_t size = pbw_bytes_size(1, inner) + sizeof partial_field;
    uint8_t *start = arena_alloc(arena, size, 1);
    uint8_t *at = pbw_key(start, 1, PBW_BYTES);
    at = pbw_varint(at, inner);
    at += banyandb__measure__v1__query_request__pack(changed, at);
    at = pbw_copy(at, request->carried);
    if (request->plan.mode == PLAN_PARTIALS) {
        at = pbw_copy(at, slice_of(partial_field, sizeof partial_field));
    }
    return slice_of(start, (size_t)(at - start));
}

struct slice request_push_part(const struct request *request, size_t group,
                               const Banyandb__Model__V1__TimeRange *part, struct arena *arena)
{
    const struct request_group *asked = &request->groups[group];
    query_request changed;
    banyandb__measure__v1__query_request__init(&changed);
    char *name = (char *)(uintptr_t)asked->name.ptr;
    changed.n_groups = 1;
    changed.groups = &name;
    Banyandb__Model__V1__TimeRange range = *part;
    changed.time_range = &range;
    changed.tag_projection = request_projection_tags(request, asked->measure, arena);
    changed.field_projection = request_projection_fields(request, asked->measure, arena);
    const bool nothing = changed.tag_projection == NULL && changed.field_projection == NULL;
    if (nothing && request->shows && request->plan.mode == PLAN_ROWS) {
        request_projection_any(request, asked->measure, &changed, arena);
    }
    changed.limit = pushed_limit(&request->plan, asked->measure);
    changed.trace = request->trace;
    if (request->plan.mode == PLAN_PARTIALS) {
        changed.group_by = request->message->group_by;
        changed.agg = request->message->agg;
    }
    return pack(&changed, request, arena);
}

struct slice request_push(const struct request *request, size_t group, struct arena *arena)
{
    return request_push_part(request, group, request->message->time_range, arena);
}
