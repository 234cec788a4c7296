// SPDX-License-Identifier: Apache-2.0
/* The columns of an answer: tags first, then fields, in the order in which they are written. */
#pragma once

#include "frame/slice.h"

struct layout_column {
    struct slice family; /* borrow: plan or region; empty for fields */
    struct slice name;   /* borrow: plan or region */
    bool hidden;         /* needed for merging, not part of the answer */
};

struct layout {
    size_t tag_count;
    size_t field_count;
    struct layout_column *columns; /* borrow; tags, then fields */
};
