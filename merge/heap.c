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

void heap_sift_top(struct heap *heap)
{
    for (size_t i = 0;;) {
        size_t first = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < heap->count; child++) {
            if (before(heap, child, first)) {
                first = child;
            }
        }
        if (first == i) {
            return;
        }
        swap(heap, i, first);
        i = first;
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
