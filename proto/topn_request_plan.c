// SPDX-License-Identifier: Apache-2.0
#include "proto/request_stage.h"
#include "proto/request_text.h"
#include "proto/topn_request.h"

typedef Banyandb__Measure__V1__TopNRequest topn_message;

/* Upstream sends an unknown direction to the nodes; they know no more of it. */
static bool check_wanted(const topn_message *message, struct error *err)
{
    switch ((int)message->field_value_sort) {
    case BANYANDB__MODEL__V1__SORT__SORT_UNSPECIFIED:
        return request_text_fail(err, "unspecified requested sort direction");
    case BANYANDB__MODEL__V1__SORT__SORT_DESC:
    case BANYANDB__MODEL__V1__SORT__SORT_ASC:
        break;
    default:
        return request_text_fail(err,
                                 "unknown requested sort direction %d, expected SORT_DESC (1) or "
                                 "SORT_ASC (2)",
                                 (int)message->field_value_sort);
    }
    return message->agg !=
               BANYANDB__MODEL__V1__AGGREGATION_FUNCTION__AGGREGATION_FUNCTION_UNSPECIFIED ||
           request_text_fail(err, "unspecified requested aggregation function");
}

static bool find_nodes(struct topn_request *request, const struct catalog *catalog,
                       const char *hot_selector, struct arena *arena, struct error *err)
{
    const topn_message *message = request->message;
    const struct request_stages asked = {message->stages, message->n_stages, hot_selector};
    for (size_t i = 0; i < request->group_count; i++) {
        struct request_group *group = &request->groups[i];
        const Banyandb__Common__V1__Group *known = catalog_group(catalog, group->name);
        if (known == NULL) {
            return request_text_fail(err, "failed to load group %.*s", SLICE_ARG(group->name));
        }
        if (!request_stage_group(group, known->resource_opts, &asked, arena, err)) {
            return false;
        }
    }
    return request_stage_found(request->groups, request->group_count, &asked, err);
}

/* The type is FLOAT when the field of any group is: each value is turned into it. */
static bool plan_groups(struct topn_request *request, const struct catalog *catalog,
                        struct arena *arena, struct error *err)
{
    struct topn_rule *rules = arena_array(arena, struct topn_rule, request->group_count);
    request->rules = rules;
    request->plan.agg.type = PLAN_INT;
    for (size_t i = 0; i < request->group_count; i++) {
        if (!topn_rule_find(request->message, &request->groups[i], catalog, &rules[i], err)) {
            return false;
        }
        if (rules[i].type == PLAN_FLOAT) {
            request->plan.agg.type = PLAN_FLOAT;
        }
    }
    return true;
}

static bool plan_function(struct topn_request *request, struct error *err)
{
    enum plan_function *function = &request->plan.agg.function;
    switch ((int)request->message->agg) {
    case BANYANDB__MODEL__V1__AGGREGATION_FUNCTION__AGGREGATION_FUNCTION_MEAN:
        *function = PLAN_MEAN;
        return true;
    case BANYANDB__MODEL__V1__AGGREGATION_FUNCTION__AGGREGATION_FUNCTION_MAX:
        *function = PLAN_MAX;
        return true;
    case BANYANDB__MODEL__V1__AGGREGATION_FUNCTION__AGGREGATION_FUNCTION_MIN:
        *function = PLAN_MIN;
        return true;
    case BANYANDB__MODEL__V1__AGGREGATION_FUNCTION__AGGREGATION_FUNCTION_COUNT:
        *function = PLAN_COUNT;
        return true;
    case BANYANDB__MODEL__V1__AGGREGATION_FUNCTION__AGGREGATION_FUNCTION_SUM:
        *function = PLAN_SUM;
        return true;
    default:
        return request_text_fail(
            err, "execute the query %.200s: unknown function:: unknown aggregation function",
            request->message->name);
    }
}

bool topn_request_plan_nodes(struct topn_request *request, const struct catalog *catalog,
                             const char *hot_selector, struct arena *arena, struct error *err)
{
    return check_wanted(request->message, err) &&
           find_nodes(request, catalog, hot_selector, arena, err);
}

bool topn_request_plan(struct topn_request *request, const struct catalog *catalog,
                       struct arena *arena, struct error *err)
{
    const topn_message *message = request->message;
    request->plan = (struct topn_plan){
        .ascending = message->field_value_sort == BANYANDB__MODEL__V1__SORT__SORT_ASC,
        .number = (uint64_t)message->top_n,
    };
    return plan_groups(request, catalog, arena, err) && plan_function(request, err);
}
