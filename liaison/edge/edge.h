// SPDX-License-Identifier: Apache-2.0
/*
 * The clients' side: one listener, a table of the methods served, health, and the hand-over of
 * queries to the executors. It runs on one loop; it never decodes a query.
 */
#pragma once

#include "liaison/query/executor.h"

struct edge;

struct edge_setup {
    struct loop *loop;             /* borrow: outlives it */
    const struct options *options; /* borrow: outlives it */
    struct log *log;               /* borrow: outlives it */
    struct metrics *metrics;       /* borrow: outlives it */
    struct charge *charge; /* borrow: outlives the loop's reaping; pays for what clients send */
    struct budget *budget; /* borrow: outlives it */
    struct executor **executors; /* borrow: outlive it */
    size_t executor_count;
};

/* Opens the listener. */
struct edge *edge_open(const struct edge_setup *setup, struct error *err) MUST_CHECK;
uint16_t edge_port(const struct edge *edge);
/* What health checks are told from now on. */
void edge_set_serving(struct edge *edge, bool serving);
/* Stops accepting; calls on_drained (once) when the last client connection is gone. */
void edge_drain(struct edge *edge, void (*on_drained)(void *owner), void *owner);
/* The executors are about to close: jobs that come from now on are refused with UNAVAILABLE. */
void edge_end(struct edge *edge);
/* Ends what is left with UNAVAILABLE. The executors have been closed before, so that no job comes
 * back later. */
void edge_close(struct edge **edge);
