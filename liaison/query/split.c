// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/split.h"

#include <sys/param.h>

/* Of the memory a slice is to cost one in so many. Those that have others ahead are shorter, so
 * that there is room for some: half as many questions again, but most of the time that nodes take
 * passes while others are worked on. */
#define SHARE_ALONE 4
#define SHARE_AHEAD 6
/* Where so little of a share is left, cutting goes nowhere. */
#define LEAST_SHARE 16

size_t split_room(const struct split *split)
{
    return split->budget > split->kept ? split->budget - split->kept : 0;
}

size_t split_aim(const struct split *split)
{
    const size_t share = split->budget / (split->alone ? SHARE_ALONE : SHARE_AHEAD);
    return MAX(MIN(share, split_room(split) / 3), split->least);
}

bool split_is_spent(const struct split *split)
{
    return split_aim(split) < split->budget / SHARE_ALONE / LEAST_SHARE;
}

size_t split_spare(const struct split *split)
{
    const size_t room = split_room(split);
    const size_t taken = 2 * split_aim(split);
    return split->alone || room < taken ? 0 : room - taken;
}

size_t split_ahead(size_t spare, size_t each)
{
    return each == 0 ? 0 : spare / each;
}
