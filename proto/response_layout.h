// SPDX-License-Identifier: Apache-2.0
/*
 * The shape of every data point, worked out once: which columns are shown, in which family, and the
 * bytes that are the same in all rows. An entry is a Tag or a Field with its key:
 *
 *   TagFamily  12 len { 0a len name   entry … }
 *                       └─ prefix ─┘
 *   entry      12 L { 0a len key 12 V  value }        (a Field's key is 1a)
 *              └──── template ──────┘
 *
 * L and V, the lengths of what follows, take one byte in most entries: then the template is copied
 * and the two bytes are set.
 */
#pragma once

#include "merge/arena.h"
#include "merge/layout.h"

struct response_column {
    struct slice template; /* borrow: the region, 16 spare bytes behind; L and V are 0 */
    size_t short_limit;    /* of a value's size: below it L and V take one byte each */
    size_t cell;           /* of the row */
    size_t value_size;     /* of the row being written */
};

struct response_family {
    struct slice prefix;             /* borrow: the region */
    struct slice name;               /* borrow: within the prefix */
    struct response_column *columns; /* borrow: the layout's */
    size_t column_count;
    size_t size; /* of the row being written */
};

/* The encoded time of the last row. */
struct response_time {
    int64_t timestamp;
    size_t len; /* 0 = no row yet */
    uint8_t bytes[48];
};

struct response_layout {
    struct response_family *families; /* borrow: the region; in order of their first column */
    size_t family_count;
    struct response_column *fields; /* borrow: the region */
    size_t field_count;
    struct response_time time;
};

/* Lives in the region; borrows nothing of `layout`. */
struct response_layout *response_layout_new(const struct layout *layout, struct arena *arena);
