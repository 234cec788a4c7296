// SPDX-License-Identifier: Apache-2.0
/* A measure's interval, as its schema spells it ("1m", "1h30m", "1d"), and the multiples of it
 * since the epoch that lie in a range: the buckets of time that pre-aggregated values belong to. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* False: not a positive duration of at most 292 years. */
bool interval_parse(const char *text, int64_t *nanoseconds_out);

struct interval_buckets {
    int64_t first;    /* nanoseconds since the epoch */
    int64_t interval; /* from one to the next */
    uint64_t count;
};

/* Those from `begin` to `end`, both included. */
struct interval_buckets interval_buckets(int64_t begin, int64_t end, int64_t interval);
