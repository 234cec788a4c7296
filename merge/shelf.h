// SPDX-License-Identifier: Apache-2.0
/*
 * A list of elements of one size in the region, which never move: growing copies nothing.
 *
 *     boards   [0 … 63] [64 … 127] [128 … 255] [256 … 511] …
 */
#pragma once

#include "merge/arena.h"

#define SHELF_FIRST_LOG2 9
#define SHELF_BOARDS     32

struct shelf {
    size_t capacity;
    uint8_t *boards[SHELF_BOARDS]; /* borrow: region */
};

/* `size` is that of an element, in all calls. */
static inline void *shelf_at(const struct shelf *shelf, size_t size, size_t place)
{
    const size_t first = (size_t)1 << SHELF_FIRST_LOG2;
    if (place < first) {
        return shelf->boards[0] + place * size;
    }
    const int log2 = 63 - __builtin_clzll(place);
    const size_t begin = (size_t)1 << log2;
    return shelf->boards[log2 + 1 - SHELF_FIRST_LOG2] + (place - begin) * size;
}

/* Makes room for one board more. */
void shelf_grow(struct shelf *shelf, size_t size, struct arena *arena);

/* There is room for an element at this place. */
static inline void *shelf_put(struct shelf *shelf, size_t size, struct arena *arena, size_t place)
{
    while (place >= shelf->capacity) {
        shelf_grow(shelf, size, arena);
    }
    return shelf_at(shelf, size, place);
}
