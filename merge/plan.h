// SPDX-License-Identifier: Apache-2.0
/*
 * What a query wants, told in terms of rows and columns: all that the merge needs to know.
 * Made by proto/request from the client's bytes and the catalog; lives in the query's region.
 * A zeroed plan (but for its limit) wants the rows of one group by time, all columns, no stages.
 *
 * The stages that a row passes, each left out when the plan does not ask for it:
 *
 *     row merge ─▶ first row of each key   keys, mode ROWS
 *               ─▶ groups with a total     mode PARTIALS or FOLD
 *               ─▶ best rows               top.number > 0
 *               ─▶ offset, limit
 */
#pragma once

#include "frame/slice.h"
#include "merge/layout.h"

enum plan_order { PLAN_BY_TIME, PLAN_BY_TAG };

/* What the nodes send and what becomes of it. The nodes' request differs between PARTIALS and
 * FOLD, so the mode is settled before the first node is asked. */
enum plan_mode {
    PLAN_ROWS,     /* no aggregation: rows in, rows out */
    PLAN_PARTIALS, /* agg_return_partial: each node's totals by group; combined on arrival */
    PLAN_FOLD,     /* rows: nodes see no group_by, agg or top; each record is folded here once */
};

enum plan_function { PLAN_SUM, PLAN_COUNT, PLAN_MIN, PLAN_MAX, PLAN_MEAN };

/* The schema's type of the aggregated field, and so of the answer, whatever the frames' types. */
enum plan_type { PLAN_INT, PLAN_FLOAT };

struct plan_tag {
    struct slice family; /* borrow: as the plan */
    struct slice name;   /* borrow: as the plan */
};

struct plan_agg {
    enum plan_function function;
    enum plan_type type;
    struct slice field; /* borrow: the aggregated field, and the answer's only one */
    bool mean_floor;    /* MEAN: a result below 1 is answered as 1, as upstream does */
};

struct plan_top {
    int64_t number;     /* rows to keep; 0 or less: no top. Nothing is reserved by it. */
    bool ascending;     /* the smallest values first; otherwise the greatest */
    bool hidden;        /* the field was not projected: strip it from the answer (mode ROWS) */
    struct slice field; /* borrow: what rows are ranked by; with an aggregation agg.field */
};

struct plan {
    size_t group_count;         /* distinct groups, in request order */
    const struct slice *groups; /* borrow */
    struct slice measure;       /* borrow */

    enum plan_order order;
    bool descending;
    struct plan_tag order_tag; /* PLAN_BY_TAG */
    bool order_hidden;         /* the order tag was not projected: strip it from the answer */
    bool index_mode;           /* every group's measure is in index mode: one row per series */

    /* group_by: the tags of its first family, in the client's order. 0: none, and with an
     * aggregation all rows are one group. The nodes send each of them as a column (FOLD: they are
     * added to the projection asked for; not hidden, they are part of the answer). */
    size_t key_count;
    const struct plan_tag *keys; /* borrow */

    enum plan_mode mode;
    struct plan_agg agg; /* PARTIALS, FOLD */
    struct plan_top top;

    uint64_t offset; /* rows of the answer: after groups and top */
    uint64_t limit;  /* never 0: 100 stands for the client's 0 */

    /* Several groups: the columns of the nodes' frames, all of them together, computed from the
     * schemas and the client's projections (hidden ones included). What a group's frame lacks is
     * null. PARTIALS needs the tags alone; FOLD the tags and the aggregated field. With one group
     * NULL: the frames tell; but not when the client named it more than once. */
    const struct layout *layout; /* borrow */
};
