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
#include "merge/source.h"

struct window_row {
    struct source *source; /* borrow: the merge; NULL: a newer version took its place */
    uint32_t row;
};

struct window {
    struct window_row *rows; /* borrow: region; by source, then by place in it */
    size_t capacity;
    size_t count;
    size_t at;    /* the next to be given out */
    bool settled; /* copies are looked for; until then series and times just ascend */
    struct seen seen;
};

/* Empties it for the next key. */
void window_clear(struct window *window);
/* Adds the next `count` rows of the source; sources come in their order. */
void window_add(struct window *window, struct arena *arena, struct source *source, size_t count);
/* The next living row, NULL when all have been given out; it stays the next until dropped. */
const struct window_row *window_front(struct window *window);
void window_drop(struct window *window);
