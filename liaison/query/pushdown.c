// SPDX-License-Identifier: Apache-2.0
/* Moments are nanoseconds since the epoch; what is not known counts as now. */
#include "liaison/query/pushdown.h"

#include "proto/moment.h"
#include "proto/request_schema.h"

#include <string.h>

static bool has_copies(const struct request_group *group)
{
    return group->selector_count > 1 || group->replicas[0] > 0;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* When placement may last have changed. */
static int64_t last_deal(const struct world *world, struct executor *executor)
{
    int64_t last = later(world->changed_at, catalog_placement_time(world->catalog));
    for (size_t i = 0; i < world->member_count; i++) {
        const struct member *member = &world->members[i];
        struct node *node = executor_node(executor, member);
        if (node == NULL || node_state(node) != NODE_UP || member->created_at == 0) {
            return INT64_MAX; /* missing at this moment */
        }
        last = later(last, later(member->created_at, node_down_at(node)));
    }
    return last;
}

static bool begins_after(const struct request *request, int64_t moment)
{
    return moment_nanos(moment_of(request->message->time_range->begin)) > moment;
}

/* A node groups by one value of a tag. */
static bool is_array(const struct request_group *group, struct plan_tag key)
{
    const Banyandb__Database__V1__TagSpec *tag = request_schema_tag(group->measure, key);
    return tag->type == BANYANDB__DATABASE__V1__TAG_TYPE__TAG_TYPE_STRING_ARRAY ||
           tag->type == BANYANDB__DATABASE__V1__TAG_TYPE__TAG_TYPE_INT_ARRAY;
}

static bool has_array_key(const struct request_group *group, const struct plan *plan)
{
    for (size_t i = 0; i < plan->key_count; i++) {
        if (is_array(group, plan->keys[i])) {
            return true;
        }
    }
    return false;
}

static bool is_exact(const struct request *request, const struct world *world,
                     struct executor *executor)
{
    for (size_t i = 0; i < request->group_count; i++) {
        if (has_copies(&request->groups[i]) || has_array_key(&request->groups[i], &request->plan)) {
            return false;
        }
    }
    return begins_after(request, last_deal(world, executor));
}

enum plan_mode pushdown_mode(const struct request *request, const struct world *world,
                             struct executor *executor)
{
    switch ((enum aggregation_mode)executor_setup(executor)->options->aggregation) {
    case AGGREGATION_ROWS:
        return PLAN_FOLD;
    case AGGREGATION_PUSHDOWN:
        return PLAN_PARTIALS;
    case AGGREGATION_EXACT:
        break;
    }
    return is_exact(request, world, executor) ? PLAN_PARTIALS : PLAN_FOLD;
}

/* A node keeps so many groups and no more, about half a million, and sends even fewer; and what it
 * says of a group without values looks like one. */
const struct error *pushdown_why_rows(enum aggregation_mode mode, const struct merge *merge,
                                      const struct error *failed)
{
    static const struct error too_many = {.text = "more groups than a node can number"};
    static const struct error untold = {.text = "a MIN or MAX that may be that of no value"};
    if (failed != NULL) {
        return strstr(failed->text, "memory budget exceeded") != NULL ? failed : NULL;
    }
    if (mode != AGGREGATION_EXACT) {
        return NULL;
    }
    return merge_may_lack_groups(merge) ? &too_many : merge_has_open_groups(merge) ? &untold : NULL;
}
