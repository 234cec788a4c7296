// SPDX-License-Identifier: Apache-2.0
/* A group that a request asks, and what is found out about it on the way. */
#pragma once

#include "merge/arena.h"
#include "proto/database.pb-c.h"

struct request_group {
    struct slice name;                              /* borrow: the message */
    const Banyandb__Database__V1__Measure *measure; /* borrow: the catalog; after planning */
    size_t selector_count;
    const struct slice *selectors; /* borrow: node selectors of the stages asked; 0 = all nodes */
    const uint32_t *replicas; /* borrow: of each of those stages; of the group if there are none */
    bool gated;
    int32_t status; /* model.v1.Status of a gated group */
};

/* The distinct groups of these names, in their order: a group named twice is asked once. */
struct request_group *request_group_take(char **names, size_t count, struct arena *arena,
                                         size_t *count_out);
