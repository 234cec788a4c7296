// SPDX-License-Identifier: Apache-2.0
/* Linear probing within a part. */
#include "merge/group.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FIRST_CAPACITY 64

void group_init(struct group_table *table, size_t size, struct arena *arena)
{
    *table = (struct group_table){.arena = arena, .size = size};
    parts_init(&table->parts, sizeof(struct group_slot), FIRST_CAPACITY, arena);
}

uint64_t group_hash(const struct group_table *table, struct slice key)
{
    return XXH3_64bits_withSeed(key.ptr, key.len, (uintptr_t)table);
}

/* The slot where a group of this hash goes. */
static struct group_slot *free_slot(const struct part *part, uint64_t hash)
{
    struct group_slot *slots = part->slots;
    size_t at = hash & part->mask;
    while (slots[at].group != NULL) {
        at = (at + 1) & part->mask;
    }
    return &slots[at];
}

static void take_slot(const struct part *part, const struct group_slot *slot)
{
    *free_slot(part, slot->hash) = *slot;
    part->load->count++;
}

static void grow(struct group_table *table, uint64_t hash)
{
    struct part old;
    parts_grow(&table->parts, hash, &old);
    const struct group_slot *slots = old.slots;
    for (size_t i = 0; i <= old.mask; i++) {
        if (slots[i].group != NULL) {
            take_slot(parts_of(&table->parts, slots[i].hash), &slots[i]);
        }
    }
    parts_give_back(&table->parts, &old);
}

/* A new group. Its key is the next that the region gives out, so that it lies behind the group. */
static struct group *add(struct group_table *table, uint64_t hash)
{
    const struct part *part = parts_of(&table->parts, hash);
    for (; parts_is_full(part); part = parts_of(&table->parts, hash)) {
        grow(table, hash);
    }
    struct group *group = arena_zalloc(table->arena, table->size, table->size < 64 ? 8 : 64);
    take_slot(part, &(struct group_slot){.hash = hash, .group = group});
    table->count++;
    return group;
}

struct group *group_put(struct group_table *table, struct slice key, uint64_t hash)
{
    const struct part *part = parts_of(&table->parts, hash);
    const struct group_slot *slots = part->slots;
    for (size_t at = hash & part->mask; slots[at].group != NULL; at = (at + 1) & part->mask) {
        if (slots[at].hash == hash && slice_equal(slots[at].group->key, key)) {
            return slots[at].group;
        }
    }
    struct group *group = add(table, hash);
    group->key = arena_copy(table->arena, key);
    return group;
}

struct group *group_put_cells(struct group_table *table, const struct cell *cells, size_t count,
                              uint64_t hash)
{
    const struct part *part = parts_of(&table->parts, hash);
    const struct group_slot *slots = part->slots;
    for (size_t at = hash & part->mask; slots[at].group != NULL; at = (at + 1) & part->mask) {
        if (slots[at].hash == hash && tuple_is(slots[at].group->key, cells)) {
            return slots[at].group;
        }
    }
    struct group *group = add(table, hash);
    group->key = tuple_spell(cells, count, table->arena);
    return group;
}

/* The next group of the part that the walk is in. */
static struct group *next_of_part(struct group_walk *walk)
{
    const struct group_slot *slots = walk->part->slots;
    while (walk->at <= walk->part->mask) {
        struct group *group = slots[walk->at++].group;
        if (group != NULL) {
            return group;
        }
    }
    return NULL;
}

struct group *group_next(const struct group_table *table, struct group_walk *walk)
{
    if (!walk->begun) {
        walk->begun = true;
        walk->part = parts_next(&table->parts, NULL);
    }
    while (walk->part != NULL) {
        struct group *group = next_of_part(walk);
        if (group != NULL) {
            return group;
        }
        walk->at = 0;
        walk->part = parts_next(&table->parts, walk->part);
    }
    return NULL;
}
