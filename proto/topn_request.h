// SPDX-License-Identifier: Apache-2.0
/*
 * A client's TopNRequest: bytes → message → plan, in the order of checks that clients know.
 *
 *     parse ─▶ plan_nodes ─▶ plan ─▶ push (for each question to a node)
 *       bytes, rules,      direction, groups,      rules, measures,      the bytes that a
 *       time range         stages                  fields                node is sent
 *
 * Everything lives in the query's region.
 */
#pragma once

#include "frame/error.h"
#include "merge/topn_plan.h"
#include "proto/catalog.h"
#include "proto/measure.pb-c.h"
#include "proto/topn_rule.h"

/* A node reserves memory by the number that it is asked for: it is never asked for more. */
#define TOPN_REQUEST_MAX_NUMBER 100000

struct topn_request {
    Banyandb__Measure__V1__TopNRequest *message; /* borrow: the region */
    /* The fields that every node gets as the client sent them: name, conditions, direction, stages,
     * and whatever this version does not know. */
    struct slice carried; /* borrow: the region */
    bool trace;
    size_t group_count; /* distinct, in request order */
    struct request_group *groups;
    const struct topn_rule *rules; /* borrow: the region; of each group, after planning */
    struct topn_plan plan;         /* after planning */
};

/* Nothing of `bytes` is used later. */
bool topn_request_parse(struct slice bytes, struct arena *arena, struct topn_request *request,
                        struct error *err) MUST_CHECK;

/* Direction, function, groups, and the groups' nodes: what upstream refuses without a trace.
 * `hot_selector`: --data-node-selector, or "". The catalog and it outlive the request. */
bool topn_request_plan_nodes(struct topn_request *request, const struct catalog *catalog,
                             const char *hot_selector, struct arena *arena,
                             struct error *err) MUST_CHECK;
/* After that: rule, source measure, field and direction of every group, before a node is asked. */
bool topn_request_plan(struct topn_request *request, const struct catalog *catalog,
                       struct arena *arena, struct error *err) MUST_CHECK;

/* TopNRequest bytes for group i, in the region: without aggregation, over the client's range or
 * over one bucket of it (not NULL), for at most `number` items and never more than
 * TOPN_REQUEST_MAX_NUMBER. */
struct slice topn_request_push(const struct topn_request *request, size_t group,
                               const int64_t *bucket, int64_t number, struct arena *arena);

/* A text for a failure while nodes are asked, as clients see it: "code: STATUS_INTERNAL_ERROR, msg:
 * execute the query <name>: <text>: invalid query message", code UNKNOWN. Codes that
 * request_wrap_error keeps are kept here. */
void topn_request_wrap_error(const struct topn_request *request, struct error *err);
