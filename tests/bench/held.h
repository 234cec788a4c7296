// SPDX-License-Identifier: Apache-2.0
/*
 * What the allocator has given out, over what was there at the beginning, against what is charged:
 * the greatest ratio of all looks at which at least 1 MiB was charged. A program in which one is
 * over 1.05 fails (held_verdict). For a program of one thread.
 *
 * With BENCH_HELD set nothing else is of interest: benchmarks do once what they do often, and fail
 * also if nothing could be looked at. So meson's tests of suite "held" run them.
 */
#pragma once

#include "frame/charge.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define HELD_MOST  1.05
#define HELD_LEAST ((size_t)1 << 20) /* charged: below it malloc's own small change counts */

struct held {
    size_t idle;
    struct charge charge; /* of what is measured */
    double worst;         /* 0: never was so much charged */
};

/* Of all workloads so far. */
struct held_summary {
    int told;
    int over;
};

static struct held_summary held_summary;

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
    if (held->charge.total >= HELD_LEAST && ratio > held->worst) {
        held->worst = ratio;
    }
}

/* Ends a line. */
static inline void held_tell(const struct held *held)
{
    if (held->worst == 0) {
        printf("  (less than 1 MiB charged)\n");
        return;
    }
    printf("  held/charged %.3f%s\n", held->worst, held->worst > HELD_MOST ? ", TOO MUCH" : "");
    held_summary.told++;
    held_summary.over += held->worst > HELD_MOST;
}

/* Is nothing else asked for? */
static inline bool held_is_all(void)
{
    return getenv("BENCH_HELD") != NULL;
}

/* The program's status. */
static inline int held_verdict(void)
{
    if (held_is_all() && held_summary.told == 0) {
        fprintf(stderr, "in no workload as much as 1 MiB was charged\n");
        return EXIT_FAILURE;
    }
    if (held_summary.over > 0) {
        fprintf(stderr, "in %d of %d workloads more than %.2f times is held of what is charged\n",
                held_summary.over, held_summary.told, HELD_MOST);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
