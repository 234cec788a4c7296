// SPDX-License-Identifier: Apache-2.0
/*
 * What the allocator has given out, over what was there at the beginning, against what is charged:
 * the greatest ratio of all looks at which at least 1 MiB was charged. 1.05 is the most that is
 * allowed. For a program of one thread.
 */
#pragma once

#include "frame/charge.h"

#include <malloc.h>

struct held {
    size_t idle;
    struct charge charge; /* of what is measured */
    double worst;         /* 0: never was so much charged */
};

/* Bytes, of the heap and of mappings of their own. */
static inline size_t held_now(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static inline void held_begin(struct held *held)
{
    *held = (struct held){.idle = held_now()};
}

static inline void held_look(struct held *held)
{
    const double ratio = (double)(held_now() - held->idle) / (double)held->charge.total;
    if (held->charge.total >= (size_t)1 << 20 && ratio > held->worst) {
        held->worst = ratio;
    }
}
