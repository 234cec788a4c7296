// SPDX-License-Identifier: Apache-2.0
/* Jitter needs no good random numbers, only different ones: a xorshift of the caller's seed. */
#include "liaison/cluster/backoff.h"

#include <sys/param.h>

/* -1 to 1 */
static double swing(struct backoff *backoff)
{
    uint64_t x = backoff->seed | 1;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    backoff->seed = x;
    return (double)(x >> 11) / 0x1p52 - 1;
}

uint64_t backoff_next(struct backoff *backoff)
{
    const double most = (double)backoff->max_ms;
    const double wait = backoff->wait_ms == 0 ? (double)backoff->first_ms : backoff->wait_ms;
    const double jittered = wait * (1 + swing(backoff) * backoff->jitter_percent / 100);
    backoff->wait_ms = MIN(wait * backoff->factor, most);
    return (uint64_t)MIN(jittered, most);
}

void backoff_reset(struct backoff *backoff)
{
    backoff->wait_ms = 0;
}
