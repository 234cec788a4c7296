// SPDX-License-Identifier: Apache-2.0
/*
 * Label selectors, the words by which a stage names its nodes: `type=hot,zone in (a,b),!drain`.
 *
 *   selector  = "" | expr { "," expr }          all must hold; commas inside ( ) do not split
 *   expr      = "!" key                         key absent
 *             | key "!=" value                  absent or different
 *             | key "=" value                   present and equal
 *             | key " notin " "(" v {"," v} ")" absent or not in list
 *             | key " in "    "(" v {"," v} ")" present and in list
 *             | key                             present
 */
#pragma once

#include "liaison/cluster/world.h"

struct selector;

/* NULL and err (INVALID_ARGUMENT, `invalid selector "…": <why>`) when the text is none. */
struct selector *selector_parse(struct slice text, struct error *err) MUST_CHECK;
bool selector_match(const struct selector *selector, const struct label *labels, size_t count);
void selector_free(struct selector **selector);

/* Which members a group asks. */
struct selection {
    size_t asked_count;
    size_t missing_count;
    uint32_t *asked; /* caller's, room for all members: indexes of those that are up, in order */
    uint32_t
        *missing; /* caller's, room for all members: those that should be asked and are not up */
};

/* `up[i]`: member i can be asked now. No selectors = every member; else those that match any of
 * them. Members never reached match everything. False: `no active nodes` when none at all is up,
 * `no nodes match the selector map[<group>:[…]]` when none that matches is there (both
 * UNAVAILABLE), or a selector that cannot be read. */
bool selection_make(struct selection *selection, const struct world *world, const bool *up,
                    struct slice group, const struct slice *selectors, size_t selector_count,
                    struct error *err) MUST_CHECK;
