// SPDX-License-Identifier: Apache-2.0
/* Which members a group asks: those that its stages' selectors name, divided into the ones that
 * can be asked now and the ones that are missed. */
#pragma once

#include "frame/error.h"
#include "frame/slice.h"
#include "liaison/cluster/world.h"

struct selection {
    size_t asked_count;
    size_t missing_count;
    uint32_t *asked;   /* caller's, room for all members: indexes of those that are up, ascending */
    uint32_t *missing; /* caller's, room for all members: those that belong to it and are not up */
};

/* `up[i]`: member i can be asked now. No selectors = every member, else those that match any of
 * them; a member that never said who it is matches everything. Members that were not reached or
 * have left are missing whatever `up` says.
 *
 * False: `no active nodes`, or `no nodes match the selector map[<group>:[…]]` (both UNAVAILABLE),
 * or `failed to parse node selector: …` (INVALID_ARGUMENT). */
bool selection_make(struct selection *selection, const struct world *world, const bool *up,
                    struct slice group, const struct slice *selectors, size_t selector_count,
                    struct error *err) MUST_CHECK;
