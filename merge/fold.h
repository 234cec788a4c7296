// SPDX-License-Identifier: Apache-2.0
/*
 * The stage that turns rows into groups, each with a total.
 *
 *     row, or a node's partial ─▶ key ─▶ group ─▶ total
 *                                          └─▶ when its rank is the lowest so far: carried tags
 *
 * What is held is bounded by the groups: a key once, a total, the lowest rank, and the tags of the
 * row that has it. When all rows are in, the groups are put in the order of their ranks and given
 * out one by one, as rows without time. Nothing depends on the order in which rows came.
 *
 * In mode FOLD it is a sink of the row merge, which runs by time, where all versions of a record
 * meet; the sort key of the rank is read from the row all the same. In mode PARTIALS
 * merge/partial.c adds to the groups frame by frame, and `row` is not called.
 */
#pragma once

#include "merge/group.h"
#include "merge/heap.h"
#include "merge/kept.h"
#include "merge/rank.h"
#include "merge/reduce.h"
#include "merge/shape.h"
#include "merge/stage.h"
#include "merge/tuple.h"

/* One group. */
struct folded {
    struct group group; /* first */
    bool ranked;        /* a row has come */
    struct rank rank;   /* the lowest; its key's bytes lie in the region */
    struct kept_room rank_room;
    struct kept carried; /* of the row that has it */
    struct reduce total;
};

struct fold {
    struct stage stage;      /* first */
    const struct plan *plan; /* borrow: outlives the fold */
    struct arena *arena;     /* borrow: outlives the fold */
    struct arena *scratch;   /* borrow: outlives the fold; left as it was found */
    struct group_table table;
    struct tuple tuple;
    const struct layout *in; /* borrow: of the rows; NULL before fold_shape */
    bool complete;           /* all columns that the plan needs are in the rows */
    struct shape shape;

    size_t gathered;    /* slots of the table that have been looked at for the heap */
    struct heap order;  /* groups by rank */
    struct cell *keys;  /* borrow: region; of the group that is given out */
    struct cell *cells; /* borrow: region; of its row */
};

void fold_init(struct fold *fold, const struct plan *plan, struct arena *arena,
               struct arena *scratch, struct sink *next);

/* What rows look like; the layout outlives the fold. The first call counts, also before `begin`. */
void fold_shape(struct fold *fold, const struct layout *in);

/* The group of this key (group_hash by the fold's table); new ones have seen nothing. */
struct folded *fold_find(struct fold *fold, struct slice key, uint64_t hash);

/* Would a row of this rank give the group its carried tags? */
static inline bool fold_is_first(const struct fold *fold, const struct folded *folded,
                                 const struct rank *rank)
{
    return !folded->ranked || rank_compare(rank, &folded->rank, fold->plan->descending) < 0;
}

/* It does: copies the rank, and the carried tags from the cells of the row (shape.carried). */
void fold_carry(struct fold *fold, struct folded *folded, const struct rank *rank,
                const struct cell *cells);
