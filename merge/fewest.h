// SPDX-License-Identifier: Apache-2.0
/*
 * The fewest rows that an answer can have, told from how many the frames have.
 *
 *     group 0   node a  600 rows ┐                       copies of each other, perhaps
 *               node b  500 rows ┴▶ at least 600 ┐
 *     group 1   node a  300 rows ─▶ at least 300 ┴▶ 900 ─▶ top, offset, limit ─▶ rows
 *
 * A node sends each record of a group once, in its newest version; so no rule of the merge drops a
 * row of a frame but for a newer one of the same record in another, which takes its place. Of other
 * answers nothing is told: partials and rows that are folded become groups, of a key or of an index
 * mode's series only the first row stays.
 */
#pragma once

#include "merge/arena.h"
#include "merge/plan.h"

struct fewest {
    const struct plan *plan; /* borrow: outlives it */
    uint64_t *rows;          /* borrow: region; by group; NULL: nothing can be told */
};

void fewest_init(struct fewest *fewest, const struct plan *plan, struct arena *arena);
/* A frame of so many rows is there. */
void fewest_add(struct fewest *fewest, size_t group, uint64_t rows);
/* Rows of the answer, if a frame of so many rows of this group comes besides those that are there.
 */
uint64_t fewest_with(const struct fewest *fewest, size_t group, uint64_t rows);
