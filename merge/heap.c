// SPDX-License-Identifier: Apache-2.0
/* Sift up, sift down. */
#include "merge/heap.h"

static bool before(const struct heap *heap, size_t a, size_t b)
{
    return heap->less(heap->owner, heap->items[a], heap->items[b]);
}

static void swap(struct heap *heap, size_t a, size_t b)
{
    void *item = heap->items[a];
    heap->items[a] = heap->items[b];
    heap->items[b] = item;
}

void heap_push(struct heap *heap, void *item)
{
    size_t i = heap->count++;
    heap->items[i] = item;
    for (; i > 0 && before(heap, i, (i - 1) / 2); i = (i - 1) / 2) {
        swap(heap, i, (i - 1) / 2);
    }
}

/* The first of an item and its two children. */
static size_t first_of_three(const struct heap *heap, size_t parent)
{
    size_t first = parent;
    for (size_t child = 2 * parent + 1; child <= 2 * parent + 2 && child < heap->count; child++) {
        if (before(heap, child, first)) {
            first = child;
        }
    }
    return first;
}

void heap_sift_top(struct heap *heap)
{
    size_t at = 0;
    for (size_t first; (first = first_of_three(heap, at)) != at; at = first) {
        swap(heap, at, first);
    }
}

void *heap_pop(struct heap *heap)
{
    if (heap->count == 0) {
        return NULL;
    }
    void *top = heap->items[0];
    heap->items[0] = heap->items[--heap->count];
    heap_sift_top(heap);
    return top;
}
