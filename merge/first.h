// SPDX-License-Identifier: Apache-2.0
/*
 * group_by without an aggregation: of each key the first row passes, in the order of the stream.
 * Rows go on at once; what is held is the keys that have been seen.
 */
#pragma once

#include "merge/group.h"
#include "merge/plan.h"
#include "merge/stage.h"

struct first {
    struct stage stage;      /* first */
    const struct plan *plan; /* borrow: outlives the stage */
    uint64_t rows;           /* so far */
    struct group_table table;
    size_t *keys;       /* borrow: region; where in a row each key tag is, or SHAPE_NOWHERE */
    struct cell *cells; /* borrow: region; of a row's key */
};

void first_init(struct first *first, const struct plan *plan, struct arena *arena,
                struct sink *next);
