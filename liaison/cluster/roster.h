// SPDX-License-Identifier: Apache-2.0
/*
 * The data nodes that count: those listed now, and those that left not long ago and may still hold
 * rows that nobody else has.
 *
 *     places of discovery ─┐
 *     roster before        ├─▶ roster now ─▶ copies for a world
 *     time                 ┘
 */
#pragma once

#include "liaison/cluster/discovery.h"
#include "liaison/cluster/member.h"

struct roster {
    size_t count;
    struct member *members; /* own; sorted by name, each name once */
    int64_t changed_at;     /* ns since the epoch: when it last became another one */
    size_t duplicates;      /* places that told a name which another place has told already */
};

/* Brings it up to date; true when it has become another one. `forget_after` in ns. */
bool roster_update(struct roster *roster, const struct discovery *discovery, int64_t now,
                   int64_t forget_after);
/* When the next member is forgotten (ns since the epoch), 0 = none waits for that. */
int64_t roster_next_forgotten(const struct roster *roster, int64_t forget_after);
/* A heap copy of the members, for world_new. */
struct member *roster_copy(const struct roster *roster);
void roster_fini(struct roster *roster);

struct roster_counts {
    size_t listed; /* and reached */
    size_t unreached;
    size_t left;
};
struct roster_counts roster_counts(const struct roster *roster);
