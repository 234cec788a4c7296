// SPDX-License-Identifier: Apache-2.0
/*
 * The cluster as it is known at one moment: the catalog and the data nodes. One immutable
 * snapshot, counted atomically, replaced as a whole by the control thread; a query keeps the one
 * it began with, so it never sees half of a change.
 */
#pragma once

#include "liaison/cluster/member.h"
#include "proto/catalog.h"

struct world {
    struct catalog *catalog; /* own: one count; NULL until the first complete list */
    size_t member_count;
    struct member *members; /* own, sorted by name: data nodes only, each name once */
    int64_t changed_at;     /* ns since the epoch: when a member last joined, left or was missing */
};

/* Takes the members (heap, with all they own) and the catalog's count; sorts; count 1. */
struct world *world_new(struct catalog *catalog /* take */, struct member *members /* take */,
                        size_t member_count, int64_t changed_at);
struct world *world_retain(struct world *world);
void world_release(struct world **world);

/* NULL = no such member. */
const struct member *world_member(const struct world *world, const char *name);
