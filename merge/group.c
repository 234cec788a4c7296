// SPDX-License-Identifier: Apache-2.0
/* Linear probing, at most half full; growing leaves the old table to the region. */
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

/* A new group in a free slot, or in another when the table has to grow. Its key is the next that
 * the region gives out, so that it lies behind the group. */
static struct group *add(struct group_table *table, struct group_slot *slot, uint64_t hash)
{
    if (2 * ++table->count > table->capacity) {
        grow(table);
        size_t to = hash & (table->capacity - 1);
        while (table->slots[to].group != NULL) {
            to = (to + 1) & (table->capacity - 1);
        }
        slot = &table->slots[to];
    }
    struct group *group = arena_zalloc(table->arena, table->size, table->size < 64 ? 8 : 64);
    *slot = (struct group_slot){.hash = hash, .group = group};
    return group;
}

struct group *group_put(struct group_table *table, struct slice key, uint64_t hash)
{
    size_t mask = table->capacity - 1;
    size_t at = hash & mask;
    for (; table->slots[at].group != NULL; at = (at + 1) & mask) {
        struct group_slot *slot = &table->slots[at];
        if (slot->hash == hash && slice_equal(slot->group->key, key)) {
            return slot->group;
        }
    }
    struct group *group = add(table, &table->slots[at], hash);
    group->key = arena_copy(table->arena, key);
    return group;
}

struct group *group_put_cells(struct group_table *table, const struct cell *cells, size_t count,
                              uint64_t hash)
{
    size_t mask = table->capacity - 1;
    size_t at = hash & mask;
    for (; table->slots[at].group != NULL; at = (at + 1) & mask) {
        struct group_slot *slot = &table->slots[at];
        if (slot->hash == hash && tuple_is(slot->group->key, cells)) {
            return slot->group;
        }
    }
    struct group *group = add(table, &table->slots[at], hash);
    group->key = tuple_spell(cells, count, table->arena);
    return group;
}
