// SPDX-License-Identifier: Apache-2.0
/* Linear probing at most half full; growing leaves the old table to the region. */
#include "merge/seen.h"

static size_t hash(uint32_t group, uint64_t series, int64_t time)
{
    uint64_t h = series ^ (uint64_t)time * 0x9e3779b97f4a7c15u ^ (uint64_t)group << 32;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    return (size_t)(h ^ h >> 32);
}

static struct seen_slot *find(const struct seen *seen, uint32_t group, uint64_t series,
                              int64_t time)
{
    size_t i = hash(group, series, time) & (seen->capacity - 1);
    for (;; i = (i + 1) & (seen->capacity - 1)) {
        struct seen_slot *slot = &seen->slots[i];
        if (slot->generation != seen->generation ||
            (slot->series == series && slot->time == time && slot->group == group)) {
            return slot;
        }
    }
}

static void grow(struct seen *seen, struct arena *arena)
{
    struct seen old = *seen;
    seen->capacity = old.capacity == 0 ? 256 : 2 * old.capacity;
    seen->slots = arena_array(arena, struct seen_slot, seen->capacity);
    seen->generation = 1;
    for (size_t i = 0; i < old.capacity; i++) {
        struct seen_slot *slot = &old.slots[i];
        if (slot->generation == old.generation) {
            struct seen_slot *to = find(seen, slot->group, slot->series, slot->time);
            *to = *slot;
            to->generation = seen->generation;
        }
    }
}

void seen_clear(struct seen *seen)
{
    seen->count = 0;
    if (++seen->generation == 0) { /* wrapped: old stamps could look new */
        memset(seen->slots, 0, seen->capacity * sizeof *seen->slots);
        seen->generation = 1;
    }
}

size_t *seen_put(struct seen *seen, struct arena *arena, uint32_t group, uint64_t series,
                 int64_t time, size_t number)
{
    if (2 * seen->count >= seen->capacity) {
        grow(seen, arena);
    }
    struct seen_slot *slot = find(seen, group, series, time);
    if (slot->generation != seen->generation) {
        *slot = (struct seen_slot){.series = series,
                                   .time = time,
                                   .group = group,
                                   .generation = seen->generation,
                                   .number = number};
        seen->count++;
    }
    return &slot->number;
}
