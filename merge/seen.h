// SPDX-License-Identifier: Apache-2.0
/*
 * A set of records that the owner keeps in an array: finds the one that is equal to a new one. A
 * slot holds 32 bits of the record's hash and its number, so that a window of a hundred thousand
 * rows does not outweigh the rows. Open addressing in the region, in parts (merge/parts.h); emptied
 * in O(1) by leaving all numbers so far behind.
 */
#pragma once

#include "merge/parts.h"

struct seen_slot {
    uint32_t hash;
    uint32_t number; /* below `first`: free */
};

struct seen {
    struct parts parts; /* of seen_slot */
    size_t count;
    uint32_t first; /* what number 0 is stored as */
    uint32_t end;   /* one past what the greatest number is stored as */
    /* Whether two records are the same. */
    bool (*same)(const void *owner, size_t a, size_t b);
    const void *owner; /* borrow: passed to same; outlives the set */
};

#define SEEN_MAX_NUMBER (UINT32_MAX / 4)

static inline uint32_t seen_hash(size_t group, uint64_t series, int64_t time)
{
    uint64_t hash = series + (uint64_t)time * 0x9e3779b97f4a7c15u + group * 0xc2b2ae3d27d4eb4fu;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
    return (uint32_t)(hash >> 32);
}

/* Empties it. */
void seen_clear(struct seen *seen);

/* The number of the record that was there before and is the same; `number` (at most
 * SEEN_MAX_NUMBER) itself when there was none, then it is put there. */
size_t seen_put(struct seen *seen, struct arena *arena, uint32_t hash, size_t number);

/* After seen_put found another one: `number` stands for it from now on. */
void seen_replace(struct seen *seen, uint32_t hash, size_t before, size_t number);
