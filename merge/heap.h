// SPDX-License-Identifier: Apache-2.0
/* A binary heap of pointers: the first by `less` is on top. The storage is the caller's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct heap {
    void **items; /* borrow: room for as many as are ever pushed at once */
    size_t count;
    bool (*less)(const void *owner, const void *a, const void *b);
    const void *owner; /* borrow: passed to less */
};

void heap_push(struct heap *heap, void *item);
static inline void *heap_top(const struct heap *heap)
{
    return heap->count == 0 ? NULL : heap->items[0];
}
/* Takes the top off; NULL when empty. */
void *heap_pop(struct heap *heap);
/* The top's order has changed: moves it to its place. */
void heap_sift_top(struct heap *heap);
