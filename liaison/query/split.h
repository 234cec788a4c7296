// SPDX-License-Identifier: Apache-2.0
/*
 * How the memory of a query is shared out when rows are asked for in slices: to what stays, to the
 * slice that is worked on, and to slices that were asked for ahead of their turn.
 *
 *     |-- kept: groups so far --|---- a slice ----|-- to merge it --|------- ahead -------|
 *     |                         |       aim       |       aim       |   slice  |   slice …|
 *     0                       kept                               budget - spare        budget
 *
 * A slice that is denser than the one before may cost twice its aim. Slices that wait ahead hold
 * the messages as they came, and give way (rounds.h) as soon as the rest needs more than that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct split {
    size_t budget;
    size_t kept;  /* what the query holds besides the slices */
    size_t least; /* what a slice is to cost at the least: as much has to be there in any case */
    bool alone;   /* nothing is asked ahead, and slices may be longer */
};

/* What is not kept. */
size_t split_room(const struct split *split);
/* What a slice is meant to cost. */
size_t split_aim(const struct split *split);
/* Too little is left for slices: it is the groups that are too many. */
bool split_is_spent(const struct split *split);
/* What slices ahead may hold together. */
size_t split_spare(const struct split *split);
/* How many slices that hold so much each are in it. */
size_t split_ahead(size_t spare, size_t each);
