// SPDX-License-Identifier: Apache-2.0
/* Linear probing at most half full; growing leaves the old table to the region. */
#include "merge/seen.h"

#include <assert.h>

#define FIRST_CAPACITY 256

static bool is_free(const struct seen *seen, const struct seen_slot *slot)
{
    return slot->number < seen->first;
}

/* The slot where a record with this hash is, was put, or may be put; the search goes on from it. */
static struct seen_slot *next_slot(const struct seen *seen, const struct seen_slot *slot)
{
    size_t place = (size_t)(slot - seen->slots) + 1;
    return &seen->slots[place & (seen->capacity - 1)];
}

static struct seen_slot *first_slot(const struct seen *seen, uint32_t hash)
{
    return &seen->slots[hash & (seen->capacity - 1)];
}

static void grow(struct seen *seen, struct arena *arena)
{
    const struct seen old = *seen;
    seen->capacity = old.capacity == 0 ? FIRST_CAPACITY : 2 * old.capacity;
    seen->slots = arena_array(arena, struct seen_slot, seen->capacity);
    for (size_t i = 0; i < old.capacity; i++) {
        if (is_free(&old, &old.slots[i])) {
            continue;
        }
        struct seen_slot *slot = first_slot(seen, old.slots[i].hash);
        while (!is_free(seen, slot)) {
            slot = next_slot(seen, slot);
        }
        *slot = old.slots[i];
    }
    if (seen->first == 0) {
        seen->first = 1; /* a zeroed slot is free */
        seen->end = 1;
    }
}

void seen_clear(struct seen *seen)
{
    seen->count = 0;
    seen->first = seen->end;
    if (seen->first > UINT32_MAX / 2) { /* numbers must not run out within one generation */
        memset(seen->slots, 0, seen->capacity * sizeof *seen->slots);
        seen->first = 1;
        seen->end = 1;
    }
}

size_t seen_put(struct seen *seen, struct arena *arena, uint32_t hash, size_t number)
{
    assert(number <= SEEN_MAX_NUMBER);
    if (2 * seen->count >= seen->capacity) {
        grow(seen, arena);
    }
    struct seen_slot *slot = first_slot(seen, hash);
    for (; !is_free(seen, slot); slot = next_slot(seen, slot)) {
        size_t other = slot->number - seen->first;
        if (slot->hash == hash && seen->same(seen->owner, other, number)) {
            return other;
        }
    }
    *slot = (struct seen_slot){.hash = hash, .number = seen->first + (uint32_t)number};
    seen->count++;
    if (slot->number >= seen->end) {
        seen->end = slot->number + 1;
    }
    return number;
}

void seen_replace(struct seen *seen, uint32_t hash, size_t before, size_t number)
{
    assert(number <= SEEN_MAX_NUMBER);
    struct seen_slot *slot = first_slot(seen, hash);
    while (slot->number != seen->first + before) {
        slot = next_slot(seen, slot);
    }
    slot->number = seen->first + (uint32_t)number;
    if (slot->number >= seen->end) {
        seen->end = slot->number + 1;
    }
}
