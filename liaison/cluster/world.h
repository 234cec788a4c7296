// SPDX-License-Identifier: Apache-2.0
/*
 * The cluster as it is known at one moment: the catalog and the data nodes. One immutable
 * snapshot, counted atomically, replaced as a whole by the control thread; a query keeps the one
 * it began with, so it never sees half of a change.
 */
#pragma once

#include "proto/catalog.h"

struct label {
    char *key;   /* own */
    char *value; /* own */
};

struct member {
    char *name;    /* own: the node's identity, "host:port" as it calls itself */
    char *address; /* own: to dial for queries (Node.grpc_address) */
    size_t label_count;
    struct label *labels; /* own */
    int64_t created_at;   /* ns since the epoch; 0 = not told */
    bool reached;         /* false: listed by discovery, but it never told its name (then name is
                             the discovery address); it is not asked and counts as missing */
    int64_t left_at;      /* ns since the epoch: when it left discovery, 0 = it is listed. It is not
                             asked and counts as missing until --node-forget-after */
};

struct world {
    struct catalog *catalog; /* own: one count; NULL until the first complete list */
    size_t member_count;
    struct member *members; /* own, sorted by name: data nodes only */
    int64_t changed_at;     /* ns since the epoch: when a member last joined, left or was reached */
};

/* Takes the members (heap, with all they own) and the catalog's count; sorts; count 1. */
struct world *world_new(struct catalog *catalog /* take */, struct member *members /* take */,
                        size_t member_count, int64_t changed_at);
struct world *world_retain(struct world *world);
void world_release(struct world **world);

/* NULL = no such member. */
const struct member *world_member(const struct world *world, const char *name);
/* The value of a label, or NULL. */
const char *member_label(const struct member *member, const char *key);
void member_copy(const struct member *member, struct member *copy_out);
void member_fini(struct member *member);
