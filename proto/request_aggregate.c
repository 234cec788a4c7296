// SPDX-License-Identifier: Apache-2.0
#include "proto/request_aggregate.h"

#include "proto/request_schema.h"

typedef Banyandb__Measure__V1__QueryRequest query_request;

static bool has_key(const struct plan *plan, const struct plan_tag *tag)
{
    for (size_t i = 0; i < plan->key_count; i++) {
        if (slice_equal(plan->keys[i].name, tag->name) &&
            slice_equal(plan->keys[i].family, tag->family)) {
            return true;
        }
    }
    return false;
}

/* A tag that is named again makes no other groups, and is spelled for every row. */
static void fill_keys(struct plan *plan, const query_request *message, struct arena *arena)
{
    if (message->group_by == NULL) {
        return;
    }
    const Banyandb__Model__V1__TagProjection__TagFamily *family =
        message->group_by->tag_projection->tag_families[0];
    struct plan_tag *keys = arena_array(arena, struct plan_tag, family->n_tags);
    plan->keys = keys;
    for (size_t i = 0; i < family->n_tags; i++) {
        const struct plan_tag key = {slice_str(family->name), slice_str(family->tags[i])};
        if (!has_key(plan, &key)) {
            keys[plan->key_count++] = key;
        }
    }
}

static enum plan_function function_of(Banyandb__Model__V1__AggregationFunction function)
{
    static const enum plan_function functions[] = {
        [BANYANDB__MODEL__V1__AGGREGATION_FUNCTION__AGGREGATION_FUNCTION_MEAN] = PLAN_MEAN,
        [BANYANDB__MODEL__V1__AGGREGATION_FUNCTION__AGGREGATION_FUNCTION_MAX] = PLAN_MAX,
        [BANYANDB__MODEL__V1__AGGREGATION_FUNCTION__AGGREGATION_FUNCTION_MIN] = PLAN_MIN,
        [BANYANDB__MODEL__V1__AGGREGATION_FUNCTION__AGGREGATION_FUNCTION_COUNT] = PLAN_COUNT,
        [BANYANDB__MODEL__V1__AGGREGATION_FUNCTION__AGGREGATION_FUNCTION_SUM] = PLAN_SUM,
    };
    return functions[function];
}

/* Groups may differ in it: ints are floats to whoever has both. */
static enum plan_type type_of(const struct request *request, struct slice field)
{
    for (size_t i = 0; i < request->group_count; i++) {
        if (request_schema_field(request->groups[i].measure, field)->field_type ==
            BANYANDB__DATABASE__V1__FIELD_TYPE__FIELD_TYPE_FLOAT) {
            return PLAN_FLOAT;
        }
    }
    return PLAN_INT;
}

static void fill_agg(struct request *request)
{
    struct plan *plan = &request->plan;
    const Banyandb__Measure__V1__QueryRequest__Aggregation *agg = request->message->agg;
    if (agg == NULL) {
        return;
    }
    struct slice field = slice_str(agg->field_name);
    plan->mode = PLAN_FOLD;
    plan->agg = (struct plan_agg){
        .function = function_of(agg->function),
        .type = type_of(request, field),
        .field = field,
        .mean_floor = true,
    };
    /* Rows show the tag that they are sorted by only when the client projected it. A group's key is
     * part of the answer in any case. */
    plan->order_hidden = plan->order_hidden && !has_key(plan, &plan->order_tag);
}

/* A top of no rows ranks nothing, and is none, as upstream has it. */
static void fill_top(struct request *request)
{
    const query_request *message = request->message;
    if (message->top == NULL || message->top->number <= 0) {
        return;
    }
    struct slice field = slice_str(message->top->field_name);
    request->plan.top = (struct plan_top){
        .number = message->top->number,
        .ascending = message->top->field_value_sort == BANYANDB__MODEL__V1__SORT__SORT_ASC,
        .hidden = message->agg == NULL &&
                  !request_schema_projects_field(message->field_projection, field),
        .field = field,
    };
}

void request_aggregate(struct request *request, struct arena *arena)
{
    fill_keys(&request->plan, request->message, arena);
    fill_agg(request);
    fill_top(request);
}

void request_aggregate_by(struct request *request, enum plan_mode mode, bool mean_floor)
{
    request->plan.mode = mode;
    request->plan.agg.mean_floor = mean_floor;
}
