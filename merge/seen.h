// SPDX-License-Identifier: Apache-2.0
/*
 * A set of records by (group, series, time), each with a number: finds copies of a row within a
 * window, and rows of a series already returned in index mode. Open addressing in the region; it
 * is emptied in O(1) by starting a new generation.
 */
#pragma once

#include "merge/arena.h"

struct seen_slot {
    uint64_t series;
    int64_t time;
    uint32_t group;
    uint32_t generation; /* of another one: free */
    size_t number;
};

struct seen {
    struct seen_slot *slots; /* borrow: the region */
    size_t capacity;         /* 0 or a power of two */
    size_t count;
    uint32_t generation;
};

/* Empties it. */
void seen_clear(struct seen *seen);

/* The number kept for this record. It is put there, with `number`, when there was none; tell which
 * by comparing. The pointer is valid until the next call. */
size_t *seen_put(struct seen *seen, struct arena *arena, uint32_t group, uint64_t series,
                 int64_t time, size_t number);
