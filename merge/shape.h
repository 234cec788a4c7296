// SPDX-License-Identifier: Apache-2.0
/*
 * Which columns of the rows that come in a fold looks at, and what columns its answer has: all
 * tags but the hidden ones, then one field, the aggregated one.
 *
 *     in    tag key1 | tag a | tag hidden | tag key2 | field v | …
 *     out   tag key1 | tag a | tag key2 | field v
 *
 * Key tags of the answer are read from the group's key; the others are carried.
 */
#pragma once

#include "frame/error.h"
#include "merge/arena.h"
#include "merge/plan.h"

#define SHAPE_NOWHERE SIZE_MAX

struct shape_tag {
    bool is_key;
    size_t place; /* among the plan's keys, or among the carried tags */
};

struct shape {
    size_t *keys; /* borrow: region; where in the rows each key tag is, or NOWHERE */
    size_t carried_count;
    size_t *carried; /* borrow: region; where in the rows each carried tag is */
    size_t value;    /* where in the rows the aggregated field is, or NOWHERE */
    size_t order;    /* where in the rows the sort key's tag is, or NOWHERE */

    struct layout out;      /* columns: borrow: region */
    struct shape_tag *tags; /* borrow: region; of each tag of `out` */
};

void shape_make(struct shape *shape, const struct plan *plan, const struct layout *in,
                struct arena *arena);

/* Is everything there that FOLD needs of rows? False: err names the first that is not. */
bool shape_check(const struct shape *shape, const struct plan *plan, struct error *err) MUST_CHECK;

/* What to say when the plan's key tag of this number, or its field, is not there. False. */
bool shape_no_key(const struct plan *plan, size_t key, struct error *err);
bool shape_no_value(const struct plan *plan, struct error *err);

/* Where in rows of this layout the tag is, or NOWHERE. */
size_t shape_find_tag(const struct layout *layout, const struct plan_tag *tag);
/* The same for a field; of several with one name the last. */
size_t shape_find_field(const struct layout *layout, struct slice name);
