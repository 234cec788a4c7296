// SPDX-License-Identifier: Apache-2.0
/* What the metrics are made of, for those who count (metrics.c) and those who show it
 * (metrics_text.c). */
#pragma once

#include "liaison/metrics.h"

#include <pthread.h>
#include <stdatomic.h>

#define METRICS_MAX_SHARDS   256
#define METRICS_BUCKET_COUNT 12

enum metrics_kind {
    METRICS_COUNTER,
    METRICS_COUNTER_SECONDS,
    METRICS_GAUGE,
    METRICS_HISTOGRAM,
    METRICS_LIVE,
    METRICS_LIVE_MAX,
    METRICS_HELD, /* asked of the allocator when it is shown */
};

/* X(upper end in nanoseconds, the same in seconds); the last bucket of a histogram has no end. */
#define METRICS_BUCKETS(X)                                                                         \
    X(5000000, "0.005")                                                                            \
    X(10000000, "0.01")                                                                            \
    X(25000000, "0.025")                                                                           \
    X(50000000, "0.05")                                                                            \
    X(100000000, "0.1")                                                                            \
    X(250000000, "0.25")                                                                           \
    X(500000000, "0.5")                                                                            \
    X(1000000000, "1")                                                                             \
    X(2500000000, "2.5")                                                                           \
    X(5000000000, "5")                                                                             \
    X(10000000000, "10")                                                                           \
    X(UINT64_MAX, "+Inf")

struct metrics_series {
    struct metrics_series *next; /* own: in its family's list */
    char *labels;                /* own: `group="g",method="query"`, or "" */
    atomic_int_fast64_t value;   /* of a histogram: the sum */
    atomic_uint_fast64_t counts[METRICS_BUCKET_COUNT];
};

struct metrics_shard {
    atomic_uint_fast64_t live[METRIC_COUNT]; /* those of kind LIVE and LIVE_MAX */
};

struct metrics_family {
    struct metrics_series *first; /* own */
    struct metrics_series *last;  /* borrow: in the list of first */
    size_t count;
};

struct metrics {
    pthread_mutex_t mutex; /* guards the lists, not the numbers */
    struct metrics_family families[METRIC_COUNT];
    size_t shard_count;
    struct metrics_shard *shards[METRICS_MAX_SHARDS]; /* own */
};
