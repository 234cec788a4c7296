// SPDX-License-Identifier: Apache-2.0
/*
 * One node's frame on its way through the merge: a cursor over its rows in merge order, with a pin
 * on the message they lie in. Cells of constant columns are read once and stay where they are while
 * the cursor moves.
 */
#pragma once

#include "frame/msg.h"
#include "merge/layout.h"
#include "merge/order.h"
#include "merge/plan.h"

struct source_varying {
    const struct column *column; /* borrow: view */
    struct cell *cell;           /* borrow: the source's cells */
};

struct source {
    struct msg *msg; /* pin: until the last row was taken */
    struct view view;
    size_t group; /* index in the plan */
    size_t rank;  /* the node's place by name */

    const struct column *time;    /* borrow: view */
    const struct column *version; /* borrow: view */
    const struct column *series;  /* borrow: view */

    const struct column **columns;  /* borrow: region; in layout order, NULL = not in the frame */
    struct cell *cells;             /* borrow: region; in layout order */
    struct source_varying *varying; /* borrow: region; what differs from row to row */
    size_t varying_count;

    struct order order;
    size_t next;    /* place in merge order of the first row that was not taken */
    struct key key; /* of that row */
};

/* Finds time, version and series by role, puts the rows in merge order and stands on the first.
 * DATA_LOSS when one is missing or has nulls, or a cell of the order tag is malformed. */
bool source_open(struct source *source, const struct plan *plan, struct arena *arena,
                 struct error *err) MUST_CHECK;
/* The same in shares, source_stand when they are done. Nothing else is allocated in the region
 * meanwhile. */
bool source_begin(struct source *source, const struct plan *plan, struct error *err) MUST_CHECK;
static inline enum progress source_some(struct source *source, struct arena *arena, size_t *left,
                                        struct error *err)
{
    return order_some(&source->order, arena, left, err);
}
/* Stands on the row at source->next, if there is one. */
void source_stand(struct source *source);

/* Takes a count of the message that the view lies in, and counts the view; gives both back. */
void source_pin(struct source *source, struct msg *msg, struct charge *charge);
void source_unpin(struct source *source, struct charge *charge);

/* The layout that this frame alone gives: its tags, then its fields, in their order. */
struct layout *source_layout(const struct source *source, const struct plan *plan,
                             struct arena *arena);
/* One group: columns must agree with the layout place by place (nodes got one request). */
bool source_bind_same(struct source *source, const struct layout *layout, struct arena *arena,
                      struct error *err) MUST_CHECK;
/* Several groups: columns are found by role, family and name; what is missing is null. */
bool source_bind_named(struct source *source, const struct layout *layout, struct arena *arena,
                       struct error *err) MUST_CHECK;

static inline bool source_is_drained(const struct source *source)
{
    return source->next == source->view.row_count;
}

/* How many of the next rows have the key that the cursor stands on, `most` at most. */
static inline size_t source_run(const struct source *source, size_t most)
{
    return order_run(&source->order, source->next, most);
}

/* Stands on the row behind the next `count` ones, if there is one. */
void source_advance(struct source *source, size_t count);

/* Reads the cells of a row into source->cells. */
bool source_read(struct source *source, size_t row, struct error *err) MUST_CHECK;
