// SPDX-License-Identifier: Apache-2.0
/* Each cell has a room of its own, so a shorter value leaves nothing behind. */
#include "merge/kept.h"

struct kept kept_new(size_t count, struct arena *arena)
{
    return (struct kept){.cells = arena_array(arena, struct cell, count),
                         .rooms = arena_array(arena, struct kept_room, count)};
}

struct slice kept_bytes(struct kept_room *room, struct slice bytes, struct arena *arena)
{
    if (bytes.len > room->size) {
        size_t size = bytes.len > 2 * room->size ? bytes.len : 2 * room->size;
        *room = (struct kept_room){.at = arena_alloc(arena, size, 1), .size = size};
    }
    if (bytes.len > 0) {
        memcpy(room->at, bytes.ptr, bytes.len);
    }
    return slice_of(room->at, bytes.len);
}

void kept_put(struct kept *kept, size_t i, const struct cell *cell, struct arena *arena)
{
    struct cell *to = &kept->cells[i];
    *to = *cell;
    switch (cell->kind) {
    case CELL_NULL:
    case CELL_INT:
    case CELL_FLOAT:
        return;
    case CELL_STRING:
    case CELL_BINARY:
        to->bytes = kept_bytes(&kept->rooms[i], cell->bytes, arena);
        return;
    case CELL_STRINGS:
    case CELL_INTS:
    case CELL_TIME:
        to->bytes = kept_bytes(&kept->rooms[i], cell->bytes, arena);
        to->inner = slice_of(to->bytes.ptr + (cell->inner.ptr - cell->bytes.ptr), cell->inner.len);
        return;
    }
}
