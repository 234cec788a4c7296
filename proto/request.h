// SPDX-License-Identifier: Apache-2.0
/*
 * A client's QueryRequest: bytes → message → plan, in the order of checks that clients know.
 *
 *     request_parse ─▶ request_gate ─▶ request_plan ─▶ request_push (once for each group)
 *       bytes, rules,    revisions,      schemas, order,   the bytes that a node is sent
 *       time range       clamp           stages, layout
 *
 * Everything lives in the query's region. Refusals carry the code and the text that the client
 * sees (query-semantics 1).
 */
#pragma once

#include "frame/error.h"
#include "merge/arena.h"
#include "merge/plan.h"
#include "proto/catalog.h"
#include "proto/measure.pb-c.h"

/* Deeper criteria are refused before protobuf-c sees the bytes: it recurses without a limit. */
#define REQUEST_MAX_CRITERIA_DEPTH 1000

struct request_group {
    struct slice name;                              /* borrow: the message */
    const Banyandb__Database__V1__Measure *measure; /* borrow: the catalog; after request_plan */
    size_t selector_count;
    const struct slice *selectors; /* borrow: node selectors of the stages asked; 0 = all nodes */
    bool gated;
    int32_t status; /* model.v1.Status of a gated group */
};

struct request {
    Banyandb__Measure__V1__QueryRequest *message; /* borrow: the region */
    bool trace;
    size_t group_count; /* distinct, in request order */
    struct request_group *groups;
    struct plan plan; /* after request_plan */
    bool order_hidden_added;
};

enum request_step {
    REQUEST_GO_ON,
    REQUEST_ANSWERED, /* the answer is known without asking nodes: statuses, or an empty result */
    REQUEST_WAIT,     /* a group's revision is not there yet: try again with a newer catalog */
    REQUEST_REFUSED,  /* err */
};

bool request_parse(struct slice bytes, struct arena *arena, struct request *request,
                   struct error *err) MUST_CHECK;

/* `may_wait`: answer WAIT instead of SCHEMA_NOT_APPLIED. */
enum request_step request_gate(struct request *request, const struct catalog *catalog,
                               bool may_wait);

/* `hot_selector`: --data-node-selector, or "". The catalog outlives the request. */
bool request_plan(struct request *request, const struct catalog *catalog, const char *hot_selector,
                  struct arena *arena, struct error *err) MUST_CHECK;

/* InternalQueryRequest bytes for group i (query-semantics 2.2), in the region. */
struct slice request_push(const struct request *request, size_t group, struct arena *arena);

/* A text for a failure of the plan's execution as clients see it:
 * "code: STATUS_INTERNAL_ERROR, msg: fail to execute the query plan for measure <m>: <text>:
 * invalid query message", code UNKNOWN. RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED of the client,
 * CANCELLED, UNIMPLEMENTED and UNAVAILABLE of ours keep code and text. */
void request_wrap_error(const struct request *request, struct error *err);
