// SPDX-License-Identifier: Apache-2.0
/*
 * The spans of a measure query's execution, named and tagged as clients of the Go liaison know
 * them:
 *
 *     broadcast-rows | broadcast-agg | broadcast-per-group-<g> …    the nodes' traces below them
 *     reduce-raw-frames, apply-top-to-reduce                        with an aggregation
 *     merge-distributed-rows | build-multi-group-schema, merge-distributed-rows-multi
 *     limit, iterator
 *
 * Rows pass the last ones together, so these share their times.
 */
#pragma once

#include "liaison/query/query_trace.h"
#include "liaison/query/work.h"
#include "proto/request.h"

struct measure_trace; /* NULL: not traced; every function takes it and does nothing */

/* The execution begins: its tags. */
struct measure_trace *measure_trace_begin(struct work *work, const struct request *request,
                                          struct trace_span *execution);
/* Nodes are asked for rows of this range: a broadcast span for each group. There is room for some
 * rounds of them; of later ones only the number is told. */
void measure_trace_ask(struct measure_trace *trace, const Banyandb__Model__V1__TimeRange *range);
/* A node has answered; its trace is kept, or counted when it does not fit. */
void measure_trace_answer(struct measure_trace *trace, const struct fanout_source *source,
                          size_t frame_bytes, struct slice node_trace);
/* That answer was no good. */
void measure_trace_refuse(struct measure_trace *trace, const struct fanout_source *source);
/* All nodes have answered; `failed` may be NULL. A group fails with it unless all of its nodes have
 * given good answers. */
void measure_trace_answered(struct measure_trace *trace, const struct error *failed);
/* All nodes have answered, and are asked again because of this: the broadcasts so far have not
 * failed, they tell why they were not enough. */
void measure_trace_again(struct measure_trace *trace, const struct error *why);
/* The merge begins, and has failed, or ended with this many rows of the answer. */
void measure_trace_merge(struct measure_trace *trace);
void measure_trace_failed(struct measure_trace *trace, const struct error *why);
void measure_trace_merged(struct measure_trace *trace, const struct merge_counts *counts,
                          size_t rows);
