// SPDX-License-Identifier: Apache-2.0
/* Lengths are counted in nanoseconds from the first to the last, one less than there are: so even
 * that of all time fits into 64 bits. */
#include "liaison/query/slices.h"

#include <assert.h>

#define MILLISECOND 1000000
#define MOST_GROWTH 8 /* of the next slice; where there is nothing, one learns nothing */

static uint64_t length_of(const struct slices *slices)
{
    return (uint64_t)slices->last - (uint64_t)slices->begin;
}

static uint64_t past_millisecond(int64_t moment)
{
    return (uint64_t)(((moment % MILLISECOND) + MILLISECOND) % MILLISECOND);
}

/* Makes it end at begin + length or shortly before, where the next one can begin at a whole
 * millisecond; at the next such moment if there is none; or where the range does. */
static void set_length(struct slices *slices, uint64_t length)
{
    const uint64_t rest = (uint64_t)slices->end - (uint64_t)slices->begin;
    if (length < rest) {
        const uint64_t over = past_millisecond((int64_t)((uint64_t)slices->begin + length));
        length = (length > over ? length : length + MILLISECOND) - over - 1;
    }
    slices->last = length < rest ? (int64_t)((uint64_t)slices->begin + length) : slices->end;
}

bool slices_cut(struct slices *slices, uint64_t parts)
{
    const struct slices before = *slices;
    if (slices->last <= slices->begin) {
        return false;
    }
    set_length(slices, length_of(slices) / parts);
    if (slices->last >= before.last) {
        *slices = before;
        return false;
    }
    slices->full = before.last;
    return true;
}

uint64_t slices_next_length(const struct slices *slices, double excess)
{
    const bool tells = excess > 1.0 / MOST_GROWTH;
    const double wanted = (double)length_of(slices) * (tells ? 1 / excess : MOST_GROWTH);
    const uint64_t length = wanted >= 0x1p63 ? UINT64_MAX : (uint64_t)wanted;
    const uint64_t half = slices->full > slices->last
                              ? ((uint64_t)slices->full - (uint64_t)slices->last) / 2
                              : UINT64_MAX;
    return tells || length < half ? length : half;
}

void slices_go_on(struct slices *slices, uint64_t length)
{
    assert(!slices_is_last(slices));
    slices->begin = slices->last + 1;
    set_length(slices, length);
}
