// SPDX-License-Identifier: Apache-2.0
/*
 * What a query wants, told in terms of rows and columns: all that the merge needs to know.
 * Made by proto/request from the client's bytes and the catalog; lives in the query's region.
 */
#pragma once

#include "frame/slice.h"
#include "merge/layout.h"

enum plan_order { PLAN_BY_TIME, PLAN_BY_TAG };

struct plan_tag {
    struct slice family;
    struct slice name;
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

    uint64_t offset;
    uint64_t limit; /* never 0: 100 stands for the client's 0 */

    /* Several groups: the answer's columns, computed from the schemas and the client's
     * projections (hidden ones included). With one group NULL: the frames tell. */
    const struct layout *layout; /* borrow */
};
