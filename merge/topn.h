// SPDX-License-Identifier: Apache-2.0
/*
 * TopN: nodes' lists of best entities in, the best ones of all of them out.
 *
 *     topn_open ─┬─ batch: begin, feed …, fold ─┬─ topn_next until DONE
 *                └─ …                           ┘
 *
 * A node answers with one item for each entity, its best one in the time asked. With plan.every
 * false there is one batch for each group, over the whole range, and the best single value of an
 * entity is its value. With plan.every true a batch is one interval of one group, and the function
 * is taken over the intervals. All entities are kept until the end, none is dropped early for a
 * place among the best: nothing depends on the order in which answers come or on how they are
 * split among nodes.
 */
#pragma once

#include "merge/topn_batch.h"

struct topn;

struct topn_tag {
    struct slice name; /* borrow: region */
    struct cell value; /* borrow: region */
};

struct topn_item {
    size_t group; /* the group asked */
    size_t tag_count;
    const struct topn_tag *tags; /* borrow: until the next item */
    struct cell value;           /* an int or a float, as plan.agg.type */
};

/* Lives in the region; `plan` is borrowed and outlives it. */
struct topn *topn_open(const struct topn_plan *plan, struct arena *arena);
struct topn_batch *topn_batch_new(struct topn *topn);

enum topn_step {
    TOPN_MORE, /* a share of the work is done: call again */
    TOPN_ITEM,
    TOPN_DONE,
};

/* After the last fold: the next best item. */
enum topn_step topn_next(struct topn *topn, struct topn_item *item);
