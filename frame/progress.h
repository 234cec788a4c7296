// SPDX-License-Identifier: Apache-2.0
/*
 * Work that takes long is done in shares, so that its caller's loop can turn: a function is given
 * an allowance of steps, spends them, and says MORE when none is left. A step is what a cell or a
 * row costs, some ten nanoseconds; a function may go over the allowance by little.
 *
 * What is still done in one go is bounded: a row with all its bytes, of which nodes take no more
 * than a message has room for; the columns of a frame (16,384) and the fields of the messages
 * around it (524,288); a part of a hash table (4,096 slots); a list of pointers that doubles. What
 * is large is freed by turns (spent.h).
 */
#pragma once

#include <stddef.h>

enum progress {
    PROGRESS_MORE, /* call again */
    PROGRESS_DONE,
    PROGRESS_FAILED, /* err tells; do not call again */
};

#define PROGRESS_ALL (~(size_t)0) /* an allowance that no work spends */

static inline void progress_spend(size_t *left, size_t steps)
{
    *left -= steps < *left ? steps : *left;
}

/* How many of the `rest` are done now, of which a step does `each`; spends the steps. */
static inline size_t progress_share(size_t rest, size_t each, size_t *left)
{
    const size_t steps = (rest + each - 1) / each;
    const size_t share = steps <= *left ? rest : *left * each;
    progress_spend(left, steps);
    return share;
}
