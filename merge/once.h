// SPDX-License-Identifier: Apache-2.0
/* The series that have been returned: in index mode the first row of a series stands for all. */
#pragma once

#include "merge/seen.h"
#include "merge/shelf.h"

struct once_series {
    uint64_t id;
    size_t group;
};

struct once {
    struct shelf series; /* of once_series */
    size_t count;
    struct seen seen;
};

/* True the first time that it is asked for this series. */
bool once_put(struct once *once, struct arena *arena, size_t group, uint64_t series);
