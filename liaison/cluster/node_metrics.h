// SPDX-License-Identifier: Apache-2.0
/* What is counted of one data node; the series are looked up once. */
#pragma once

#include "liaison/cluster/member.h"
#include "liaison/metrics.h"

struct node_metrics {
    struct metrics *metrics;   /* borrow; NULL = nothing is counted */
    const char *name;          /* borrow: the node's */
    struct metrics_series *up; /* borrow: metrics, as the others */
    struct metrics_series *started;
    struct metrics_series *finished;
    struct metrics_series *latency;
};

/* The member outlives it. */
void node_metrics_init(struct node_metrics *counts, struct metrics *metrics,
                       const struct member *member);
void node_metrics_up(struct node_metrics *counts, bool is_up);
void node_metrics_began(struct node_metrics *counts);
void node_metrics_ended(struct node_metrics *counts, uint64_t nanoseconds);
/* "recv_error", "server_rejected": the kinds of the Go liaison. */
void node_metrics_failed(struct node_metrics *counts, const char *kind);
