// SPDX-License-Identifier: Apache-2.0
/*
 * The rows of one sort key, gathered from all sources, before they are given out.
 *
 * Copies of a row (same group, series and time: nodes that hold replicas, or old versions) meet
 * here, because they have the same key. The highest version lives; of equal ones the first, which
 * is that of the first node by name. A window refers to rows, it copies none: its sources keep
 * their pins until it is given out.
 */
#pragma once

#include "merge/seen.h"
#include "merge/shelf.h"
#include "merge/source.h"

struct window_row {
    struct source *source; /* borrow: the merge */
    uint32_t row;
    bool old; /* a newer version took its place: it is not given out */
};

struct window {
    struct shelf rows; /* of window_row; by source, then by place in it */
    size_t count;
    size_t at;      /* the next to be given out */
    bool settles;   /* copies are looked for; until then series and times just ascend */
    size_t settled; /* rows among which copies have been looked for */
    struct seen seen;
};

/* Empties it for the next key. */
void window_clear(struct window *window);
/* Adds rows of the source, the next `count` ones at most; sources come in their order. How many:
 * with the first row that does not ascend a large window is unsettled, and none is added until it
 * is settled. */
size_t window_add(struct window *window, struct arena *arena, struct source *source, size_t count);
static inline bool window_is_settled(const struct window *window)
{
    return !window->settles || window->settled == window->count;
}
/* Looks for copies among `count` of the rows that are there. */
void window_settle(struct window *window, struct arena *arena, size_t count);
/* The next row, old ones included, NULL when all have been given out; it stays the next until
 * dropped. */
static inline const struct window_row *window_front(const struct window *window)
{
    return window->at == window->count
               ? NULL
               : shelf_at(&window->rows, sizeof(struct window_row), window->at);
}
static inline void window_drop(struct window *window)
{
    window->at++;
}
