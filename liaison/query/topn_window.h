// SPDX-License-Identifier: Apache-2.0
/*
 * The questions of a TopN job to its nodes, a window of them open at a time.
 *
 *     group 0: │■■■■■■■□□□□·······│   group 1: │··········│      ■ folded  □ open  · not asked yet
 *
 * A question is a group over the whole range, or one of its buckets. All of the group's nodes are
 * asked it; when their lists are in, its values are folded and its place goes to the next one. In a
 * bucket every entity counts: a node that sends as many as it was asked for is asked again for
 * more, as far as it can bear. With --skip-slow-replicas a question is over as soon as the nodes
 * that have answered it hold all of its rows.
 */
#pragma once

#include "liaison/query/broadcast.h"
#include "merge/topn.h"
#include "proto/topn_request.h"

/* Questions open at a time, and so calls to one node. */
#define TOPN_WINDOW_SIZE 16

struct topn_window {
    const struct topn_request *request; /* borrow: planned */
    const struct broadcast *broadcast;  /* borrow: prepared */
    struct arena *arena;                /* borrow: the query's */
    bool by_buckets;
    bool skips_slow; /* --skip-slow-replicas */
    bool cut;        /* a node may have more entities than it can be asked for */

    size_t question_count;
    struct topn_question *questions; /* borrow: region */
    size_t next_group;               /* what is asked next */
    uint64_t next_bucket;
};

/* The fields above `cut` are set. How many calls may be open at a time. */
size_t topn_window_open(struct topn_window *window, struct topn *topn);
void topn_window_ask(struct topn_window *window, struct fanout *fanout);
/* What a question asks now: its group, and its bucket or 0. */
size_t topn_window_group(const struct topn_window *window, size_t question);
int64_t topn_window_bucket(const struct topn_window *window, size_t question);
/* A node's list, and taking it in, in shares, as one after the other is; asks what comes next. */
void topn_window_answer(struct topn_window *window, const struct fanout_source *source,
                        struct slice body);
enum progress topn_window_take(struct topn_window *window, struct fanout *fanout,
                               const struct fanout_source *source, size_t *left,
                               struct error *err) MUST_CHECK;
