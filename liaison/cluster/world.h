// SPDX-License-Identifier: Apache-2.0
/*
 * The cluster as it is known at one moment: the catalog and the data nodes. One immutable
 * snapshot, counted atomically, replaced as a whole by the control thread; a query keeps the one
 * it began with, so it never sees half of a change.
 */
#pragma once

#include "proto/catalog.h"

struct label {
    const char *key;   /* own */
    const char *value; /* own */
};

struct member {
    const char *name;    /* own: the node's identity, "host:port" as it calls itself */
    const char *address; /* own: to dial for queries (Node.grpc_address) */
    size_t label_count;
    struct label *labels; /* own */
    int64_t created_at;   /* ns since the epoch; 0 = not told */
    bool reached;         /* false: listed by discovery, but it never told its name (then name is
                             the discovery address) */
};

struct world {
    struct catalog *catalog; /* own: one count; NULL until the first complete list */
    size_t member_count;
    struct member *members; /* own, sorted by name: data nodes only */
};

struct world *world_retain(struct world *world);
void world_release(struct world **world);
