// SPDX-License-Identifier: Apache-2.0
/*
 * Rows of the row merge on their way into groups (mode FOLD).
 *
 * A few rows wait here until their groups are on their way from memory, each with a copy of its
 * cells. The cells' bytes stay in the frames, so the merge says before it gives up a message.
 */
#pragma once

#include "merge/fold.h"

#define INTAKE_ROWS 32

struct intake {
    struct sink sink;    /* first */
    struct fold *fold;   /* borrow: outlives the intake */
    size_t column_count; /* of a row */
    size_t count;        /* rows that wait */
    struct row *rows;    /* borrow: region */
    struct cell *cells;  /* borrow: region; of the rows */
    struct cell *keys;   /* borrow: region; of the rows: plan.key_count each */
    uint64_t hashes[INTAKE_ROWS];
    struct folded *guesses[INTAKE_ROWS];
};

void intake_init(struct intake *intake, struct fold *fold);

/* Adds the rows that wait to their groups: before a message is released, and after the last. */
void intake_settle(struct intake *intake);
