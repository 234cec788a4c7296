// SPDX-License-Identifier: Apache-2.0
/* The last stage: passes the rows of the answer, by offset and limit, and says when it has enough.
 */
#pragma once

#include "merge/stage.h"

struct cut {
    struct stage stage; /* first */
    uint64_t offset;    /* rows still to be passed over */
    uint64_t limit;     /* rows still to be given */
};

void cut_init(struct cut *cut, uint64_t offset, uint64_t limit, struct sink *next);

/* No row that comes now can be part of the answer. */
static inline bool cut_is_full(const struct cut *cut)
{
    return cut->limit == 0;
}

/* Passes over a row if it would not be given; its cells need not even be read. */
static inline bool cut_skip(struct cut *cut)
{
    bool skipped = cut->offset > 0;
    cut->offset -= skipped;
    return skipped;
}
