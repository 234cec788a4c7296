// SPDX-License-Identifier: Apache-2.0
/*
 * A survey asks every executor what it knows of its nodes, for those who want to look at the
 * cluster: /nodes, GetClusterState.
 *
 *     asker's loop ──▶ executor 0 ──▶ copies of its nodes' states ──┐
 *                  └─▶ executor 1 ──▶ …                            ─┴▶ on_done on the asker's loop
 *
 * Each executor answers on its own thread when it comes to it, so queries share nothing with it and
 * nobody locks; while nobody asks, it costs nothing.
 */
#pragma once

#include "liaison/query/executor.h"

struct survey_node {
    char *name; /* own */
    struct node_report report;
};

/* One executor's answer. */
struct survey_part {
    struct world *world; /* own: one count; NULL before the first, or while it ends */
    size_t count;
    struct survey_node *nodes; /* own, in no order */
};

struct survey_result {
    size_t count;
    const struct survey_part *parts; /* borrow: one for each executor */
};

struct survey_setup {
    struct loop *loop;           /* borrow: the asker's; outlives the survey */
    struct executor **executors; /* borrow during the call; a NULL one answers nothing */
    size_t executor_count;
    /* Once, from the loop (at the latest from loop_free). The result is borrowed. */
    void (*on_done)(void *owner, const struct survey_result *result);
    void *owner; /* borrow: until on_done */
};

void survey_begin(const struct survey_setup *setup);

/* The newest world that an executor has; NULL = none. */
const struct world *survey_world(const struct survey_result *result);
/* How many executors have a healthy connection to this node. */
size_t survey_up(const struct survey_result *result, const char *name);
