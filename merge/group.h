// SPDX-License-Identifier: Apache-2.0
/*
 * Groups by key: spelled bytes (merge/tuple.h) → what the caller keeps for the group.
 *
 *     slots  [ hash | group ] [ hash | group ] …      group  [ key | the caller's ]  key bytes
 *
 * Open addressing in the region, in parts (merge/parts.h). A key is looked up where it lies and
 * copied once, when its group is made; whole hashes are compared before bytes are. Hashes are
 * seeded by where the table lies, so that nobody can choose keys that collide.
 */
#pragma once

#include "merge/arena.h"
#include "merge/parts.h"
#include "merge/tuple.h"

/* The caller's struct begins with one. */
struct group {
    struct slice key; /* borrow: region */
};

struct group_slot {
    uint64_t hash;
    struct group *group; /* borrow: region; NULL: free */
};

struct group_table {
    struct arena *arena; /* borrow: outlives the table */
    size_t size;         /* of the caller's struct */
    struct parts parts;  /* of group_slot */
    size_t count;        /* groups */
};

/* `size`: of the caller's struct. Of 64 bytes and more it begins on a cache line. */
void group_init(struct group_table *table, size_t size, struct arena *arena);

/* The group of this key. A new one is zeroed but for its key; the count tells that it is. */
struct group *group_put(struct group_table *table, struct slice key, uint64_t hash);
uint64_t group_hash(const struct group_table *table, struct slice key);

/* The same for a key of cells: `count` of them, in all keys of the table. Its hash is 0 with the
 * part of each cell mixed in (tuple_mix). Hashes of the two kinds do not go together. */
struct group *group_put_cells(struct group_table *table, const struct cell *cells, size_t count,
                              uint64_t hash);
static inline uint64_t group_hash_cell(const struct group_table *table, const struct cell *cell)
{
    return tuple_hash(cell, (uintptr_t)table);
}

static inline struct group_slot *group_slot(const struct group_table *table, uint64_t hash)
{
    const struct part *part = parts_of(&table->parts, hash);
    return (struct group_slot *)part->slots + (hash & part->mask);
}

/* Before many keys are put: their slots are on their way from memory meanwhile. */
static inline void group_prefetch(const struct group_table *table, uint64_t hash)
{
    __builtin_prefetch(group_slot(table, hash));
}

/* The group that has this hash, NULL if none has: nearly always the one of the key, which is still
 * to be compared. It is on its way from memory. */
static inline struct group *group_guess(const struct group_table *table, uint64_t hash)
{
    const struct part *part = parts_of(&table->parts, hash);
    const struct group_slot *slots = part->slots;
    size_t at = hash & part->mask;
    while (slots[at].hash != hash && slots[at].group != NULL) {
        at = (at + 1) & part->mask;
    }
    uintptr_t group = (uintptr_t)slots[at].group;
    for (size_t line = 0; line < table->size + 128; line += 64) { /* keys of the usual lengths */
        __builtin_prefetch((const void *)(group + line));
    }
    return slots[at].group;
}

/* A walk over all groups, in no order, while none is added. */
struct group_walk {
    const struct part *part; /* borrow: the table; zeroed before the first */
    size_t at;               /* slots of the part that have been looked at */
    bool begun;
};

/* NULL: there are no more. */
struct group *group_next(const struct group_table *table, struct group_walk *walk);
