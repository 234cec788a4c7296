// SPDX-License-Identifier: Apache-2.0
/*
 * The sources of a merge: in (request group, node) order, whatever the order of arrival, and on a
 * heap by the key that each stands on; among equal keys the first source is on top.
 */
#pragma once

#include "merge/excerpt.h"
#include "merge/heap.h"
#include "merge/source.h"

struct lineup {
    const struct plan *plan;     /* borrow: outlives it */
    const struct plan *scan;     /* borrow: likewise; the order in which rows are merged */
    struct arena *arena;         /* borrow: outlives it */
    const struct layout *layout; /* borrow: region; of the rows */
    size_t count;
    size_t capacity;
    struct source **sources; /* borrow: region; after begin in order */
    size_t bound;            /* sources that know where their columns are, and are on the heap */
    struct heap heap;        /* of those that have rows left */

    struct source *lone; /* the one whose last rows are being copied; NULL: none */
    struct excerpt rest; /* these */
    struct excerpt_copy copy;
    bool copied; /* they are being put in order */
};

void lineup_init(struct lineup *lineup, const struct plan *plan, const struct plan *scan,
                 struct arena *arena);
void lineup_add(struct lineup *lineup, struct source *source);
/* After the last add: puts them in order. */
void lineup_sort(struct lineup *lineup);
void lineup_begin(struct lineup *lineup, const struct layout *layout);
static inline bool lineup_is_bound(const struct lineup *lineup)
{
    return lineup->bound == lineup->count;
}
/* Binds the next one to the layout of the rows. DATA_LOSS when its frame does not fit. */
bool lineup_bind_next(struct lineup *lineup, struct error *err) MUST_CHECK;

static inline struct source *lineup_top(const struct lineup *lineup)
{
    return heap_top(&lineup->heap);
}

/* The top's cursor moves over `count` rows of one key. True: it has no more. */
static inline bool lineup_advance(struct lineup *lineup, size_t count)
{
    struct source *source = lineup_top(lineup);
    source_advance(source, count);
    if (source_is_drained(source)) {
        heap_pop(&lineup->heap);
        return true;
    }
    heap_sift_top(&lineup->heap);
    return false;
}

/* Looks for a source of which so few rows are left that a copy costs less than its message, and
 * begins to copy them: `lone` tells. */
void lineup_find_lone(struct lineup *lineup);
/* Copies, in shares; no source moves meanwhile. DONE: it goes on with the copies, and its message
 * may go. */
enum progress lineup_keep_lone(struct lineup *lineup, size_t *left, struct error *err) MUST_CHECK;
/* Drops all pins. */
void lineup_unpin(struct lineup *lineup);
/* Says which frame an error is about; returns false. */
bool lineup_blame(const struct lineup *lineup, const struct source *source, struct error *err);
