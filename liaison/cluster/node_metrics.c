// SPDX-License-Identifier: Apache-2.0
/* Failures are rare and have a label more, so their series is looked up when one happens. */
#include "liaison/cluster/node_metrics.h"

void node_metrics_init(struct node_metrics *counts, struct metrics *metrics,
                       const struct member *member)
{
    const char *const labels[] = {"query", "", member->name, "data", member_tier(member)};
    *counts = (struct node_metrics){.metrics = metrics, .name = member->name};
    if (metrics != NULL) {
        counts->up = metrics_series(metrics, METRIC_NODE_UP, (const char *[]){member->name});
        counts->started = metrics_series(metrics, METRIC_PUB_STARTED, labels);
        counts->finished = metrics_series(metrics, METRIC_PUB_FINISHED, labels);
        counts->latency = metrics_series(metrics, METRIC_PUB_LATENCY, labels);
    }
}

void node_metrics_up(struct node_metrics *counts, bool is_up)
{
    metrics_add(counts->up, is_up ? 1 : -1);
}

void node_metrics_began(struct node_metrics *counts)
{
    metrics_add(counts->started, 1);
}

void node_metrics_ended(struct node_metrics *counts, uint64_t nanoseconds)
{
    metrics_add(counts->finished, 1);
    metrics_observe(counts->latency, nanoseconds);
}

void node_metrics_failed(struct node_metrics *counts, const char *kind)
{
    const char *const labels[] = {"query", "", counts->name, "data", kind};
    if (counts->metrics != NULL) {
        metrics_add(metrics_series(counts->metrics, METRIC_PUB_ERR, labels), 1);
    }
}
