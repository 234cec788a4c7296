// SPDX-License-Identifier: Apache-2.0
/* Linear probing, at most two thirds full; growing leaves the old table to the region. */
#include "merge/group.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FIRST_CAPACITY 64

void group_init(struct group_table *table, size_t size, struct arena *arena)
{
    *table = (struct group_table){
        .arena = arena,
        .size = size,
        .slots = arena_array(arena, struct group_slot, FIRST_CAPACITY),
        .capacity = FIRST_CAPACITY,
    };
}

uint64_t group_hash(const struct group_table *table, struct slice key)
{
    return XXH3_64bits_withSeed(key.ptr, key.len, (uintptr_t)table);
}

/* The slot of this key, or the free one that it would take. */
static struct group_slot *find(const struct group_table *table, struct slice key, uint64_t hash)
{
    for (size_t i = hash & (table->capacity - 1);; i = (i + 1) & (table->capacity - 1)) {
        struct group_slot *slot = &table->slots[i];
        if (slot->group == NULL || (slot->hash == hash && slice_equal(slot->group->key, key))) {
            return slot;
        }
    }
}

static void grow(struct group_table *table)
{
    const struct group_table old = *table;
    table->capacity = 2 * old.capacity;
    table->slots = arena_array(table->arena, struct group_slot, table->capacity);
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.slots[i].group == NULL) {
            continue;
        }
        size_t to = old.slots[i].hash & (table->capacity - 1);
        while (table->slots[to].group != NULL) {
            to = (to + 1) & (table->capacity - 1);
        }
        table->slots[to] = old.slots[i];
    }
}

static struct group *make(struct group_table *table, struct slice key)
{
    struct group *group = arena_zalloc(table->arena, table->size, 8);
    group->key = arena_copy(table->arena, key);
    table->count++;
    return group;
}

struct group *group_put(struct group_table *table, struct slice key, uint64_t hash)
{
    struct group_slot *slot = find(table, key, hash);
    if (slot->group != NULL) {
        return slot->group;
    }
    if (3 * (table->count + 1) > 2 * table->capacity) {
        grow(table);
        slot = find(table, key, hash);
    }
    *slot = (struct group_slot){.hash = hash, .group = make(table, key)};
    return slot->group;
}
