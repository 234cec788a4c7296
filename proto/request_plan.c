// SPDX-License-Identifier: Apache-2.0
#include "proto/request.h"
#include "proto/request_aggregate.h"
#include "proto/request_analysis.h"
#include "proto/request_layout.h"
#include "proto/request_order.h"
#include "proto/request_schema.h"
#include "proto/request_stage.h"
#include "proto/request_text.h"

typedef Banyandb__Measure__V1__QueryRequest query_request;

#define DEFAULT_LIMIT 100

static bool find_measures(struct request *request, const struct catalog *catalog, struct error *err)
{
    struct slice name = slice_str(request->message->name);
    for (size_t i = 0; i < request->group_count; i++) {
        struct request_group *group = &request->groups[i];
        group->measure = catalog_measure(catalog, group->name, name);
        if (group->measure == NULL) {
            return request_text_fail(
                err, "fail to get execution context for measure %.200s: measure doesn't exist",
                request->message->name);
        }
    }
    return true;
}

static bool find_stages(struct request *request, const struct catalog *catalog,
                        const char *hot_selector, struct arena *arena, struct error *err)
{
    const query_request *message = request->message;
    const struct request_stages asked = {message->stages, message->n_stages, hot_selector};
    for (size_t i = 0; i < request->group_count; i++) {
        struct request_group *group = &request->groups[i];
        if (!request_stage_group(group, catalog_group(catalog, group->name)->resource_opts, &asked,
                                 arena, err)) {
            return false;
        }
    }
    return request_stage_found(request->groups, request->group_count, &asked, err);
}

static bool check_top(const struct request *request, struct error *err)
{
    const query_request *message = request->message;
    if (message->agg != NULL || message->top == NULL ||
        request_schema_any_has_field(request, slice_str(message->top->field_name))) {
        return true;
    }
    return request_text_fail(err,
                             "fail to analyze the query request for measure %.200s: vec "
                             "distributed analyze: top field %.200s not found in schema",
                             message->name, message->top->field_name);
}

/* Nodes that aggregate take every rule that they have and that sorts; what is refused of it was
 * refused with their words. Here it only tells which group comes first: a rule of several tags, or
 * of a tag that the measure does not have, leaves that to time. */
static void order_groups(struct request *request, const struct catalog *catalog)
{
    struct error ignored;
    if (request->message->agg != NULL) {
        (void)!request_order(request, catalog, &ignored);
    }
}

static void fill_plan(struct request *request, struct arena *arena)
{
    struct plan *plan = &request->plan;
    const query_request *message = request->message;
    struct slice *names = arena_array(arena, struct slice, request->group_count);
    plan->index_mode = true;
    for (size_t i = 0; i < request->group_count; i++) {
        names[i] = request->groups[i].name;
        plan->index_mode = plan->index_mode && request->groups[i].measure->index_mode;
    }
    plan->group_count = request->group_count;
    plan->groups = names;
    plan->measure = slice_str(message->name);
    plan->offset = message->offset;
    plan->limit = message->limit == 0 ? DEFAULT_LIMIT : message->limit;
}

/* What upstream finds out before it asks a node. */
static bool prepare(struct request *request, const struct catalog *catalog,
                    const char *hot_selector, struct arena *arena, struct error *err)
{
    bool by_nodes = request->message->agg != NULL; /* the order is theirs to check */
    return find_measures(request, catalog, err) &&
           (by_nodes || request_order(request, catalog, err)) && check_top(request, err) &&
           find_stages(request, catalog, hot_selector, arena, err);
}

bool request_plan(struct request *request, const struct catalog *catalog, const char *hot_selector,
                  struct arena *arena, struct error *err)
{
    request->plan = (struct plan){.layout = NULL};
    request->executes = prepare(request, catalog, hot_selector, arena, err);
    if (!request->executes || !request_analysis(request, catalog, err)) {
        return false;
    }
    order_groups(request, catalog);
    fill_plan(request, arena);
    request_aggregate(request, arena);
    return !request->several || request_layout(request, arena, err);
}
