// SPDX-License-Identifier: Apache-2.0
/* Marks what each selector matches, then deals the marked members out. */
#include "liaison/cluster/selection.h"

#include "liaison/cluster/selector.h"
#include "liaison/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds the members that this selector names. */
static bool mark(const struct world *world, struct slice text, bool *marked, struct error *err)
{
    struct selector *selector = selector_parse(text, err);
    if (selector == NULL) {
        return error_prefix(err, "failed to parse node selector");
    }
    for (size_t i = 0; i < world->member_count; i++) {
        const struct member *member = &world->members[i];
        marked[i] = marked[i] || !member->reached || selector_match(selector, member);
    }
    selector_free(&selector);
    return true;
}

static bool can_ask(const struct world *world, const bool *up, size_t i)
{
    return up[i] && member_is_askable(&world->members[i]);
}

static void deal(struct selection *selection, const struct world *world, const bool *up,
                 const bool *marked)
{
    selection->asked_count = 0;
    selection->missing_count = 0;
    for (size_t i = 0; i < world->member_count; i++) {
        if (!marked[i]) {
            continue;
        }
        if (can_ask(world, up, i)) {
            selection->asked[selection->asked_count++] = (uint32_t)i;
        } else {
            selection->missing[selection->missing_count++] = (uint32_t)i;
        }
    }
}

/* As Go prints a map of lists. */
static bool nobody_matches(struct slice group, const struct slice *selectors, size_t count,
                           struct error *err)
{
    char list[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof list; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", i == 0 ? "" : " ",
                                 SLICE_ARG(selectors[i]));
    }
    return error_set(err, ERROR_UNAVAILABLE, "no nodes match the selector map[%.*s:[%s]]",
                     SLICE_ARG(group), list);
}

/* Which members belong to the group, up or not. */
static bool mark_all(const struct world *world, const struct slice *selectors, size_t count,
                     bool *marked, struct error *err)
{
    memset(marked, count == 0, world->member_count);
    for (size_t i = 0; i < count; i++) {
        if (!mark(world, selectors[i], marked, err)) {
            return false;
        }
    }
    return true;
}

/* The world and what is up in it, the group and its selectors: NOLINTNEXTLINE(*-function-size) */
bool selection_make(struct selection *selection, const struct world *world, const bool *up,
                    struct slice group, const struct slice *selectors, size_t selector_count,
                    struct error *err)
{
    bool *marked = own_array(world->member_count, sizeof *marked);
    const bool good = mark_all(world, selectors, selector_count, marked, err);
    if (good) {
        deal(selection, world, up, marked);
    }
    free(marked);
    if (!good || selection->asked_count > 0) {
        return good;
    }
    if (selection->missing_count == 0 && world->member_count > 0) {
        return nobody_matches(group, selectors, selector_count, err);
    }
    return error_set(err, ERROR_UNAVAILABLE, "no active nodes");
}
