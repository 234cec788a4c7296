// SPDX-License-Identifier: Apache-2.0
#include "proto/request_check.h"

#include "proto/request_rules.h"

static size_t count_tags(const Banyandb__Model__V1__TagProjection *projection)
{
    size_t tags = 0;
    for (size_t i = 0; projection != NULL && i < projection->n_tag_families; i++) {
        tags += 1 + projection->tag_families[i]->n_tags;
    }
    return tags;
}

static bool check_counts(const Banyandb__Measure__V1__QueryRequest *message, struct error *err)
{
    size_t tags = count_tags(message->tag_projection);
    size_t fields = message->field_projection == NULL ? 0 : message->field_projection->n_names;
    size_t keys = message->group_by == NULL ? 0 : count_tags(message->group_by->tag_projection);
    return request_rules_check_count("group_mod_revisions", message->n_group_mod_revisions,
                                     REQUEST_RULES_MAX_GROUPS, err) &&
           request_rules_check_count("tag_projection", tags, REQUEST_CHECK_MAX_NAMES, err) &&
           request_rules_check_count("field_projection", fields, REQUEST_CHECK_MAX_NAMES, err) &&
           request_rules_check_count("group_by", keys, REQUEST_CHECK_MAX_NAMES, err);
}

bool request_check(const Banyandb__Measure__V1__QueryRequest *message, struct error *err)
{
    const struct request_rules rules = {
        .type = "QueryRequest",
        .group_count = message->n_groups,
        .name = message->name,
        .time_range = message->time_range,
        .stage_count = message->n_stages,
    };
    return request_rules_check(&rules, err) && check_counts(message, err);
}
