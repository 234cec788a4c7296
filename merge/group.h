// SPDX-License-Identifier: Apache-2.0
/*
 * Groups by key: spelled bytes (merge/tuple.h) → what the caller keeps for the group.
 *
 *     slots  [ hash | group ] [ hash | group ] …      group  [ key | the caller's ]  key bytes
 *
 * Open addressing in the region. A key is looked up from the caller's buffer and copied once, when
 * its group is made; whole hashes are compared before bytes are. Hashes are seeded by where the
 * table lies, so that nobody can choose keys that collide.
 */
#pragma once

#include "merge/arena.h"

/* The caller's struct begins with one. */
struct group {
    struct slice key; /* borrow: region */
};

struct group_slot {
    uint64_t hash;
    struct group *group; /* borrow: region; NULL: free */
};

struct group_table {
    struct arena *arena;      /* borrow: outlives the table */
    size_t size;              /* of the caller's struct */
    struct group_slot *slots; /* borrow: region */
    size_t capacity;          /* a power of two */
    size_t count;             /* groups */
};

/* `size`: of the caller's struct, which is aligned to 8 bytes. */
void group_init(struct group_table *table, size_t size, struct arena *arena);

uint64_t group_hash(const struct group_table *table, struct slice key);

/* The group of this key. A new one is zeroed but for its key; the count tells that it is. */
struct group *group_put(struct group_table *table, struct slice key, uint64_t hash);

/* Before many keys are put: their slots are on their way from memory meanwhile. */
static inline void group_prefetch(const struct group_table *table, uint64_t hash)
{
    __builtin_prefetch(&table->slots[hash & (table->capacity - 1)]);
}
