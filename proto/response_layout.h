// SPDX-License-Identifier: Apache-2.0
/*
 * The shape of every data point, worked out once: which columns are shown, in which family, and the
 * bytes that are the same in all rows.
 *
 *   TagFamily  12 len { 0a len name   Tag  12 len { 0a len key 12   len value } … }
 *                       └─ prefix ─┘               └── prefix ───┘
 *   Field      1a len { 0a len name 12   len value }
 *                       └── prefix ───┘
 */
#pragma once

#include "merge/arena.h"
#include "merge/layout.h"

struct response_column {
    struct slice prefix; /* borrow: the region; 16 spare bytes behind */
    size_t cell;         /* of the row */
    size_t value_size;   /* of the row being written */
};

struct response_family {
    struct slice prefix;             /* borrow: the region */
    struct response_column *columns; /* borrow: the layout's */
    size_t column_count;
    size_t size; /* of the row being written */
};

struct response_layout {
    struct response_family *families; /* borrow: the region; in order of their first column */
    size_t family_count;
    struct response_column *fields; /* borrow: the region */
    size_t field_count;
};

/* Lives in the region; borrows nothing of `layout`. */
struct response_layout *response_layout_new(const struct layout *layout, struct arena *arena);
