// SPDX-License-Identifier: Apache-2.0
/*
 * Does an answer that lacks nodes lack rows?
 *
 * It does not when, for each group and stage asked,
 *   (a) no more of its nodes are missing than it keeps replicas,
 *   (b) at least one node that was asked has run since before the range begins and was not seen
 *       down since: what was written meanwhile reached it,
 *   (c) the group was not updated after the range begins: its placement is the one that (a) means.
 * With (a) alone, two nodes that are down one after the other would both be excused, and the rows
 * that only the first one holds would be missing unsaid.
 */
#pragma once

#include "frame/error.h"
#include "liaison/cluster/world.h"
#include "merge/arena.h"
#include "proto/request.h"

struct completeness {
    const struct world *world; /* borrow */
    const bool *up;            /* borrow: by member, those that are asked */
    const int64_t *down_at; /* borrow: by member, wall ns when it was last seen down; 0 = never */
    int64_t begin;          /* of the range, ns since the epoch */
    struct arena *arena;    /* borrow: scratch */
};

/* Whether the group's rows are all there in spite of the missing nodes. */
bool completeness_holds(const struct completeness *completeness, const struct request_group *group);
