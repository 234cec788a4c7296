// SPDX-License-Identifier: Apache-2.0
#include "proto/request_order.h"

#include "proto/request_schema.h"
#include "proto/request_text.h"

/* "" = none. */
static const char *rule_name(const struct request *request)
{
    const Banyandb__Model__V1__QueryOrder *order = request->message->order_by;
    return order == NULL ? "" : order->index_rule_name;
}

static const Banyandb__Database__V1__IndexRule *bound_rule(const struct request *request,
                                                           const struct request_group *group,
                                                           const struct catalog *catalog)
{
    return catalog_bound_rule(catalog, group->name, slice_str(request->message->name),
                              slice_str(rule_name(request)));
}

bool request_order_known(const struct request *request, const struct request_group *group,
                         const struct catalog *catalog, struct error *err)
{
    const char *name = rule_name(request);
    if (name[0] == '\0') {
        return true;
    }
    const Banyandb__Database__V1__IndexRule *rule = bound_rule(request, group, catalog);
    if (rule == NULL) {
        return error_set(err, ERROR_UNKNOWN,
                         "vec dispatch: parse order_by: %.200s: index is not define for the tag",
                         name);
    }
    return !rule->no_sort ||
           error_set(err, ERROR_UNKNOWN,
                     "vec dispatch: parse order_by: %.200s: index does not support sorting", name);
}

/* The tag by which a group's rows are sorted; false: err has the bare reason. */
static bool resolve(const struct request *request, const struct request_group *group,
                    const struct catalog *catalog, struct plan_tag *tag_out, struct error *err)
{
    const char *name = rule_name(request);
    const Banyandb__Database__V1__IndexRule *rule = bound_rule(request, group, catalog);
    if (rule == NULL) {
        return error_set(err, ERROR_UNKNOWN, "index rule %.200s not found", name);
    }
    if (rule->no_sort) {
        return error_set(err, ERROR_UNKNOWN, "index rule %.200s does not support sorting", name);
    }
    if (rule->n_tags != 1) {
        return error_set(err, ERROR_UNKNOWN, "index rule %.200s should have one tag", name);
    }
    *tag_out = request_schema_find_tag(group->measure, slice_str(rule->tags[0]));
    return tag_out->family.ptr != NULL ||
           error_set(err, ERROR_UNKNOWN, "tag %.200s not found", rule->tags[0]);
}

static bool resolve_any(struct request *request, const struct catalog *catalog, struct error *err)
{
    struct error first;
    if (resolve(request, &request->groups[0], catalog, &request->plan.order_tag, &first)) {
        return true;
    }
    for (size_t i = 1; i < request->group_count; i++) {
        if (resolve(request, &request->groups[i], catalog, &request->plan.order_tag, err)) {
            return true;
        }
    }
    return request_text_fail(err, "fail to analyze the query request for measure %.200s: %s",
                             request->message->name, first.text);
}

bool request_order(struct request *request, const struct catalog *catalog, struct error *err)
{
    const Banyandb__Measure__V1__QueryRequest *message = request->message;
    struct plan *plan = &request->plan;
    plan->order = PLAN_BY_TIME;
    if (message->order_by == NULL) {
        return true;
    }
    plan->descending = message->order_by->sort == BANYANDB__MODEL__V1__SORT__SORT_DESC;
    if (rule_name(request)[0] == '\0') {
        return true;
    }
    if (!resolve_any(request, catalog, err)) {
        return false;
    }
    plan->order = PLAN_BY_TAG;
    plan->order_hidden = !request_schema_projects(message->tag_projection, plan->order_tag);
    return true;
}
