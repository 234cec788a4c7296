// SPDX-License-Identifier: Apache-2.0
/*
 * Cells that have been copied out of their frame, in storage that is used again when other cells
 * take their place: a group's carried tags, or a row of a top.
 */
#pragma once

#include "merge/cell.h"

struct kept_room {
    uint8_t *at; /* borrow: region */
    size_t size;
};

struct kept {
    struct cell *cells;      /* borrow: region, and so are their bytes */
    struct kept_room *rooms; /* borrow: region; one for each cell */
};

/* Null cells. */
struct kept kept_new(size_t count, struct arena *arena);

/* Cell i becomes a copy of this one. */
void kept_put(struct kept *kept, size_t i, const struct cell *cell, struct arena *arena);

/* A copy of the bytes in the room, which grows by doubling at least. */
struct slice kept_bytes(struct kept_room *room, struct slice bytes, struct arena *arena);
