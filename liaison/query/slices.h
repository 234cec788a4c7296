// SPDX-License-Identifier: Apache-2.0
/*
 * A time range that is worked off in slices, from its begin to its end, when it is too much at
 * once: first all of it; when that does not fit, a part; then parts as long as the last one's cost
 * lets expect.
 *
 *     begin                                                       end
 *       ├──────────────────────── does not fit ───────────────────┤
 *       ├──── cut ────┤
 *                     ├──── cost little ────┤
 *                                           ├──────── last ───────┤
 *
 * Both ends of a slice are included, and slices share no moment and leave none out: one ends a
 * nanosecond before the next begins. They begin at whole milliseconds, but for the first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slices {
    int64_t begin; /* of the slice, ns since the epoch */
    int64_t last;  /* its last nanosecond */
    int64_t end;   /* the range's last nanosecond */
    int64_t full;  /* last nanosecond of the latest slice that was cut: too much lies before it */
};

/* The slice is the whole range; one that ends before it begins stays in one piece. */
static inline struct slices slices_of(int64_t begin, int64_t end)
{
    return (struct slices){.begin = begin, .last = end, .end = end, .full = begin};
}

static inline bool slices_is_last(const struct slices *slices)
{
    return slices->last == slices->end;
}

/* It goes on to the end of the range. */
static inline void slices_take_rest(struct slices *slices)
{
    slices->last = slices->end;
}

/* Makes the slice so many times shorter. False: it is a millisecond already. */
bool slices_cut(struct slices *slices, uint64_t parts);

/* The slice, which is not the last, has cost `excess` times what it was to cost: how long the next
 * one is to be, in nanoseconds, if this one is anything to go by. If it is not, for there was next
 * to nothing in it, the next one is longer, but short of what is known to be too much. */
uint64_t slices_next_length(const struct slices *slices, double excess);

/* Goes on behind the slice, which is not the last, with one of this length, or a little less. */
void slices_go_on(struct slices *slices, uint64_t length);
