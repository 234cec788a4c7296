// SPDX-License-Identifier: Apache-2.0
/*
 * What nodes tell of a traced TopN job, below the span of its execution:
 *
 *     distributed-client        request, nodeSelectors, response_count, list_count
 *       data-<node> …           by group, bucket and the node's name, whatever the order of arrival
 *
 * A job may ask thousands of questions, and a span shows few children: no more than those are kept.
 */
#pragma once

#include "liaison/query/work.h"
#include "proto/topn_request.h"

struct topn_trace; /* NULL: not traced; every function takes it and does nothing */

/* Which answer it is. */
struct topn_trace_place {
    size_t group;
    int64_t bucket; /* 0: the whole range */
    size_t rank;    /* the node's place by name */
};

/* The execution begins, and its nodes are chosen. */
struct topn_trace *topn_trace_begin(struct work *work, const struct topn_request *request,
                                    struct trace_span *execution);
/* A node's TopNResponse has come; its trace is kept, if it has one. */
void topn_trace_answer(struct topn_trace *trace, struct topn_trace_place place, struct slice body);
/* The last one has. */
void topn_trace_answered(struct topn_trace *trace);
