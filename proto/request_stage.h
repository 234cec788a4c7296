// SPDX-License-Identifier: Apache-2.0
/*
 * Stages, as a request names them, into the node selectors of its groups. Each group has its own:
 * where upstream asks the union of all groups' nodes for every group, a group without stages is
 * here asked on all nodes, and a staged one on its own.
 */
#pragma once

#include "frame/error.h"
#include "proto/common.pb-c.h"
#include "proto/request_group.h"

struct request_stages {
    char **names; /* borrow: the message; none: each group's default stages */
    size_t count;
    const char *hot_selector; /* borrow: what the name "hot" stands for besides, or "" */
};

/* Fills the group's selectors and replicas. False: it has stages, and none of them is asked. */
bool request_stage_group(struct request_group *group,
                         const Banyandb__Common__V1__ResourceOpts *opts,
                         const struct request_stages *asked, struct arena *arena,
                         struct error *err) MUST_CHECK;

/* After all groups: false when stages are asked and no group has one of them. */
bool request_stage_found(const struct request_group *groups, size_t group_count,
                         const struct request_stages *asked, struct error *err) MUST_CHECK;
