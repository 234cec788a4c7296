// SPDX-License-Identifier: Apache-2.0
/* The three conditions, one function each, for one stage of one group. */
#include "liaison/query/completeness.h"

#include "liaison/cluster/selection.h"
#include "proto/moment.h"

static bool few_enough_missing(const struct selection *selection, uint32_t replicas)
{
    return selection->missing_count <= replicas;
}

static bool has_witness(const struct completeness *completeness, const struct selection *selection)
{
    for (size_t i = 0; i < selection->asked_count; i++) {
        uint32_t member = selection->asked[i];
        int64_t born = completeness->world->members[member].created_at;
        if (born != 0 && born < completeness->begin &&
            completeness->down_at[member] < completeness->begin) {
            return true;
        }
    }
    return false;
}

static int64_t updated_at(const struct completeness *completeness, struct slice name)
{
    const Banyandb__Common__V1__Group *group = catalog_group(completeness->world->catalog, name);
    if (group == NULL || group->updated_at == NULL) {
        return INT64_MAX; /* not known: not to be relied on */
    }
    struct moment moment = moment_of(group->updated_at);
    return moment_has_nanos(moment) ? moment_nanos(moment) : INT64_MAX;
}

static bool stage_holds(const struct completeness *completeness, const struct request_group *group,
                        const struct slice *selector, uint32_t replicas)
{
    size_t members = completeness->world->member_count;
    struct selection selection = {
        .asked = arena_array(completeness->arena, uint32_t, members),
        .missing = arena_array(completeness->arena, uint32_t, members),
    };
    struct error ignored;
    return selection_make(&selection, completeness->world, completeness->up, group->name, selector,
                          selector == NULL ? 0 : 1, &ignored) &&
           (selection.missing_count == 0 ||
            (few_enough_missing(&selection, replicas) && has_witness(completeness, &selection) &&
             updated_at(completeness, group->name) <= completeness->begin));
}

bool completeness_holds(const struct completeness *completeness, const struct request_group *group)
{
    if (group->selector_count == 0) {
        return stage_holds(completeness, group, NULL, group->replicas[0]);
    }
    for (size_t i = 0; i < group->selector_count; i++) {
        if (!stage_holds(completeness, group, &group->selectors[i], group->replicas[i])) {
            return false;
        }
    }
    return true;
}
