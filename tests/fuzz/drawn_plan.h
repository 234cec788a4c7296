// SPDX-License-Identifier: Apache-2.0
/* A plan as requests make them, drawn from an input, for the columns of drawn frames. */
#pragma once

#include "merge/plan.h"
#include "tests/fuzz/draw.h"

/* Fills it in place, as it points into itself. */
struct drawn_plan {
    struct plan plan;
    struct layout layout;
    struct layout_column columns[4];
    struct plan_tag keys[2];
};

void drawn_plan(struct drawn_plan *drawn, struct draw *draw);
