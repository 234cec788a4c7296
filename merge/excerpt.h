// SPDX-License-Identifier: Apache-2.0
/*
 * The rows of a frame that are still needed, copied into a region when they are few: a frame of
 * megabytes is not held for a handful of rows, nor for the constant that they all share.
 *
 *     message | row row row … row … row row |      view ──▶ region | row row row | constant |
 *                       └─── needed ──┘                            in merge order
 */
#pragma once

#include "merge/arena.h"
#include "merge/order.h"

/* Where rows begin and how many there are, as places in merge order. */
struct excerpt {
    const struct view *view;   /* borrow: the frame */
    const struct order *order; /* borrow: of the view's rows */
    size_t first;
    size_t count;
};

/* So few of the frame's rows (one in `part`), and so large a message, that copying costs less than
 * holding. */
bool excerpt_pays(const struct excerpt *excerpt, size_t part, size_t message_bytes);

/* How many rows from the first place on can be among the first `wanted` rows of a merge of this
 * frame with others: `wanted` different records, and the rest of the last one's key. When they are
 * more than `most`, it says so by any number above that. */
size_t excerpt_needed(const struct view *view, const struct order *order, uint64_t wanted,
                      size_t most);

/* A view of these rows alone, in merge order; all of it lies in the region, which is given one
 * column after the other. */
struct view excerpt_begin(const struct excerpt *excerpt, struct arena *arena);
void excerpt_column(const struct excerpt *excerpt, struct view *copy, size_t column,
                    struct arena *arena);
/* All at once. */
struct view excerpt_copy(const struct excerpt *excerpt, struct arena *arena);
