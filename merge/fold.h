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
 * In mode FOLD merge/intake.c adds the rows of the row merge, which runs by time, where all
 * versions of a record meet; the sort key of the rank is read from the row all the same. In mode
 * PARTIALS merge/partial.c adds to the groups frame by frame.
 */
#pragma once

#include "merge/group.h"
#include "merge/heap.h"
#include "merge/kept.h"
#include "merge/rank.h"
#include "merge/reduce.h"
#include "merge/shape.h"
#include "merge/stage.h"

/* The row of a group that has the lowest rank so far; looked at when another may have it. */
struct fold_first {
    struct rank rank; /* its key's bytes lie in `room` */
    struct kept_room room;
    struct kept carried; /* its tags but for keys and hidden ones: shape.carried */
};

/* One group: what every row of it needs, in one cache line; its key follows. */
struct folded {
    struct group group; /* first */
    struct reduce total;
    uint64_t head;            /* of the lowest rank's key: nearly always enough to compare */
    struct fold_first *first; /* borrow: region; NULL: no row has come */
};

struct fold {
    struct stage stage;      /* first; rows come in by intake or partial, not by its sink */
    const struct plan *plan; /* borrow: outlives the fold */
    struct arena *arena;     /* borrow: outlives the fold */
    struct arena *scratch;   /* borrow: outlives the fold; left as it was found */
    bool descending;         /* ranks of rows; those of partials always ascend */
    struct group_table table;
    size_t open;             /* groups whose partials do not tell the result: reduce_is_open */
    const struct layout *in; /* borrow: of the rows; NULL before fold_shape */
    bool complete;           /* all columns that the plan needs are in the rows */
    struct shape shape;

    struct group_walk walk; /* of groups that are put on the heap */
    struct heap order;      /* groups by rank */
    struct cell *keys;      /* borrow: region; of the group that is given out */
    struct cell *cells;     /* borrow: region; of its row */
};

void fold_init(struct fold *fold, const struct plan *plan, struct arena *arena,
               struct arena *scratch, struct sink *next);

/* What rows look like; the layout outlives the fold. The first call counts, also before `begin`. */
void fold_shape(struct fold *fold, const struct layout *in);

/* The group of a key of plan.key_count cells; in a new one no row has come. `guess` is what
 * group_guess told for this hash. */
static inline struct folded *fold_find(struct fold *fold, struct folded *guess,
                                       const struct cell *cells, uint64_t hash)
{
    if (guess != NULL && tuple_is(guess->group.key, cells)) {
        return guess;
    }
    return (struct folded *)group_put_cells(&fold->table, cells, fold->plan->key_count, hash);
}

/* Would a row of this rank give the group its carried tags? */
static inline bool fold_is_first(const struct fold *fold, const struct folded *folded,
                                 const struct rank *rank)
{
    if (folded->first != NULL && rank->key.head != folded->head) {
        return (rank->key.head < folded->head) != fold->descending;
    }
    return folded->first == NULL || rank_compare(rank, &folded->first->rank, fold->descending) < 0;
}

/* It does: copies the rank, and the carried tags from the cells of the row. */
void fold_carry(struct fold *fold, struct folded *folded, const struct rank *rank,
                const struct cell *cells);
