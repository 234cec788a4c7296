// SPDX-License-Identifier: Apache-2.0
/*
 * Memory that nobody needs any more, on its way back to the system.
 *
 * Freeing takes as long as the pages that were touched, some eight milliseconds for a hundred
 * megabytes: too long for a loop's turn. So an account's large blocks (messages, regions,
 * responses) wait in a list, from which they are given back piece by piece. Whoever held them is
 * charged for them no longer; the account that is paid to the process still is, until they are
 * gone.
 *
 *     query ─ charge_drop ─▶ spent_free ─┬─ small, or nobody takes turns ─▶ heap
 *                                        └─ list ─ spent_give_back … ────▶ heap
 */
#pragma once

#include "frame/charge.h"

#define SPENT_MIN   ((size_t)128 << 10) /* what is smaller is freed at once */
#define SPENT_PIECE ((size_t)1 << 20)   /* goes in a tenth of a millisecond */

struct spent_block;

/* Embedded by the owner of an account without a parent, which refers to it (charge.spent). */
struct spent {
    struct spent_block *first; /* own */
    struct charge *charge;     /* borrow: that account. Kind CACHE */
    size_t bytes;              /* that wait */
    /* The list was empty and is not any more. */
    void (*on_some)(struct spent *spent);
};

/* Frees a block of the heap, of `size` bytes, that is charged to nobody any more. `charge` is whose
 * it was, and may be NULL. */
void spent_free(struct charge *charge, void *block, size_t size);

/* Gives back one piece: true while there is more. */
bool spent_give_back(struct spent *spent);
