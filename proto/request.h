// SPDX-License-Identifier: Apache-2.0
/*
 * A client's QueryRequest: bytes → message → plan, in the order of checks that clients know.
 *
 *     request_parse ─▶ request_gate ─▶ request_plan ─▶ request_push (once for each group)
 *       bytes, rules,    revisions,      schemas, order,   the bytes that a node is sent,
 *       time range       clamp           stages, groups,   by the plan's mode
 *                                        top, layout
 *
 * Everything lives in the query's region. Refusals carry the code and the text that the client
 * sees.
 */
#pragma once

#include "frame/error.h"
#include "merge/arena.h"
#include "merge/plan.h"
#include "proto/catalog.h"
#include "proto/measure.pb-c.h"
#include "proto/request_group.h"

struct request {
    Banyandb__Measure__V1__QueryRequest *message; /* borrow: the region */
    /* The fields that every node gets as the client sent them: name, criteria, order_by, stages,
     * rewrite flag, revisions, and whatever this version does not know. Criteria are never packed
     * again: protobuf-c would end their values at a NUL. */
    struct slice carried; /* borrow: the region */
    bool trace;
    size_t group_count; /* distinct, in request order */
    struct request_group *groups;
    bool several;     /* the client named more than one, or one again: schemas tell the columns */
    struct plan plan; /* after request_plan */
    bool shows;       /* several groups: some group has something of what is projected */
    bool executes;    /* request_plan has found nothing against it but what its execution would */
};

enum request_step {
    REQUEST_GO_ON,
    REQUEST_ANSWERED, /* the answer is known without asking nodes: statuses, or an empty result */
    REQUEST_WAIT,     /* a group's revision is not there yet: try again with a newer catalog */
};

/* The bytes are looked through before protobuf-c gets them (proto/depth.h); a request that would
 * take more than the region's budget is RESOURCE_EXHAUSTED. Nothing of `bytes` is used later. */
bool request_parse(struct slice bytes, struct arena *arena, struct request *request,
                   struct error *err) MUST_CHECK;

/* `may_wait`: answer WAIT instead of SCHEMA_NOT_APPLIED. Moves the time range's begin when the
 * client gave revisions. */
enum request_step request_gate(struct request *request, const struct catalog *catalog,
                               bool may_wait);

/* Finds schemas, order, nodes, groups, and columns. `hot_selector`: --data-node-selector, or "".
 * The catalog and it outlive the request. */
bool request_plan(struct request *request, const struct catalog *catalog, const char *hot_selector,
                  struct arena *arena, struct error *err) MUST_CHECK;

/* Of a request that aggregates: whether its plan is to combine PARTIALS or to FOLD rows, which it
 * does if nobody says otherwise; and whether a MEAN below 1 becomes 1. Before request_push. */
static inline bool request_aggregates(const struct request *request)
{
    return request->plan.mode != PLAN_ROWS;
}
void request_aggregate_by(struct request *request, enum plan_mode mode, bool mean_floor);

/* InternalQueryRequest bytes for group i, in the region. */
struct slice request_push(const struct request *request, size_t group, struct arena *arena);

/* The same for a part of the time range, both ends included. */
struct slice request_push_part(const struct request *request, size_t group,
                               const Banyandb__Model__V1__TimeRange *part, struct arena *arena);

/* A text for a failure of the plan's execution as clients see it:
 * "code: STATUS_INTERNAL_ERROR, msg: fail to execute the query plan for measure <m>: <text>:
 * invalid query message", code UNKNOWN. RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED of the client,
 * CANCELLED, UNIMPLEMENTED, UNAVAILABLE and FAILED_PRECONDITION (frame versions) of ours keep code
 * and text. */
void request_wrap_error(const struct request *request, struct error *err);
