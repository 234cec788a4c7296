// SPDX-License-Identifier: Apache-2.0
/* A list that grows by doubling, and the set of its places. */
#include "merge/once.h"

#define FIRST_CAPACITY 64

static bool same_series(const void *owner, size_t a, size_t b)
{
    const struct once *once = owner;
    return once->series[a].id == once->series[b].id &&
           once->series[a].group == once->series[b].group;
}

static void reserve(struct once *once, struct arena *arena)
{
    if (once->count < once->capacity) {
        return;
    }
    size_t capacity = once->capacity == 0 ? FIRST_CAPACITY : 2 * once->capacity;
    struct once_series *series = arena_array_raw(arena, struct once_series, capacity);
    if (once->count > 0) {
        memcpy(series, once->series, once->count * sizeof *series);
    }
    once->series = series;
    once->capacity = capacity;
}

bool once_put(struct once *once, struct arena *arena, size_t group, uint64_t series)
{
    once->seen.same = same_series;
    once->seen.owner = once;
    reserve(once, arena);
    once->series[once->count] = (struct once_series){.id = series, .group = group};
    uint32_t hash = seen_hash(group, series, 0);
    if (seen_put(&once->seen, arena, hash, once->count) != once->count) {
        return false;
    }
    once->count++;
    return true;
}
