// SPDX-License-Identifier: Apache-2.0
/* What metrics and the log are told of a query, once for each group that it asks; groups that are
 * not in the catalog when it begins are counted together. */
#pragma once

#include "liaison/query/work.h"

struct account {
    uint64_t took;           /* ns */
    const struct error *err; /* borrow; NULL: it was answered */
    bool incomplete;         /* the answer lacks nodes */
    size_t peak;             /* bytes held */
};

void account_begin(struct work *work, const struct executor_setup *setup);
void account_end(const struct work *work, const struct executor_setup *setup,
                 const struct account *account);
