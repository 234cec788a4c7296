// SPDX-License-Identifier: Apache-2.0
/* How long to wait before the next try: grows by a factor up to a maximum, jittered so that many
 * clients of a node that comes back do not come back together. */
#pragma once

#include <stdint.h>

struct backoff {
    uint64_t first_ms;
    uint64_t max_ms;
    double factor;
    unsigned jitter_percent; /* up to so much more or less */
    double wait_ms;          /* the next one without jitter; 0 = first_ms */
    uint64_t seed;           /* of the jitter; changes with each use */
};

/* The wait before the next try. At most max_ms with jitter, too. */
uint64_t backoff_next(struct backoff *backoff);
/* After a success: begin at first_ms again. */
void backoff_reset(struct backoff *backoff);
