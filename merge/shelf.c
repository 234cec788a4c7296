// SPDX-License-Identifier: Apache-2.0
#include "merge/shelf.h"

#include <assert.h>

void shelf_grow(struct shelf *shelf, size_t size, struct arena *arena)
{
    size_t board = 0;
    while (shelf->boards[board] != NULL) {
        board++;
        assert(board < SHELF_BOARDS);
    }
    const size_t count = shelf->capacity == 0 ? (size_t)1 << SHELF_FIRST_LOG2 : shelf->capacity;
    shelf->boards[board] = arena_alloc(arena, arena_size(size, count), 16);
    shelf->capacity += count;
}
