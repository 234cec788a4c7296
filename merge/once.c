// SPDX-License-Identifier: Apache-2.0
/* A list and the set of its places. */
#include "merge/once.h"

static bool same_series(const void *owner, size_t a, size_t b)
{
    const struct once *once = owner;
    const struct once_series *series_a = shelf_at(&once->series, sizeof(struct once_series), a);
    const struct once_series *series_b = shelf_at(&once->series, sizeof(struct once_series), b);
    return series_a->id == series_b->id && series_a->group == series_b->group;
}

bool once_put(struct once *once, struct arena *arena, size_t group, uint64_t series)
{
    once->seen.same = same_series;
    once->seen.owner = once;
    struct once_series *next = shelf_put(&once->series, sizeof *next, arena, once->count);
    *next = (struct once_series){.id = series, .group = group};
    uint32_t hash = seen_hash(group, series, 0);
    if (seen_put(&once->seen, arena, hash, once->count) != once->count) {
        return false;
    }
    once->count++;
    return true;
}
