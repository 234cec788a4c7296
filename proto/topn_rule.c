// SPDX-License-Identifier: Apache-2.0
#include "proto/topn_rule.h"

#include "proto/moment.h"
#include "proto/request_text.h"

typedef Banyandb__Measure__V1__TopNRequest topn_message;
typedef Banyandb__Database__V1__TopNAggregation topn_aggregation;
typedef Banyandb__Database__V1__FieldSpec field_spec;

#define NOT_FOUND "rpc error: code = NotFound desc = banyandb: resource not found"

static const char *name_of(const ProtobufCEnumDescriptor *descriptor, int value)
{
    const ProtobufCEnumValue *found = protobuf_c_enum_descriptor_get_value(descriptor, value);
    return found == NULL ? "unknown" : found->name;
}

static const char *sort_name(int sort)
{
    return name_of(&banyandb__model__v1__sort__descriptor, sort);
}

/* Refusals that upstream makes when it looks for the type of the field. */
#define TYPE_FAULT "failed to determine field type for topN query %.200s: "

static const topn_aggregation *find_rule(const topn_message *message, struct slice group,
                                         const struct catalog *catalog, struct error *err)
{
    const char *name = message->name;
    const topn_aggregation *rule = catalog_topn(catalog, group, slice_str(name));
    if (rule == NULL) {
        request_text_fail(err, TYPE_FAULT "failed to get topN aggregation %.*s/%.200s: " NOT_FOUND,
                          name, SLICE_ARG(group), name);
    }
    return rule;
}

static const field_spec *find_field(const Banyandb__Database__V1__Measure *measure,
                                    const char *name)
{
    for (size_t i = 0; i < measure->n_fields; i++) {
        if (strcmp(measure->fields[i]->name, name) == 0) {
            return measure->fields[i];
        }
    }
    return NULL;
}

static bool check_type(const topn_message *message, const field_spec *field, struct error *err)
{
    return field->field_type == BANYANDB__DATABASE__V1__FIELD_TYPE__FIELD_TYPE_INT ||
           field->field_type == BANYANDB__DATABASE__V1__FIELD_TYPE__FIELD_TYPE_FLOAT ||
           request_text_fail(
               err, TYPE_FAULT "unsupported field type %s for field %.200s in topN aggregation",
               message->name,
               name_of(&banyandb__database__v1__field_type__descriptor, (int)field->field_type),
               field->name);
}

/* A node crashes when it is asked for the direction that its rule does not have. */
static bool check_direction(const topn_message *message, const topn_aggregation *rule,
                            struct error *err)
{
    if (rule->field_value_sort == BANYANDB__MODEL__V1__SORT__SORT_UNSPECIFIED ||
        rule->field_value_sort == message->field_value_sort) {
        return true;
    }
    return request_text_fail(
        err,
        "execute the query %.200s: topN aggregation %.200s/%.200s has field_value_sort %s, found "
        "%s in the request; ask for %s, or query an aggregation of both directions "
        "(SORT_UNSPECIFIED)",
        message->name, rule->metadata->group, rule->metadata->name,
        sort_name((int)rule->field_value_sort), sort_name((int)message->field_value_sort),
        sort_name((int)rule->field_value_sort));
}

static struct interval_buckets buckets_of(const topn_message *message,
                                          const Banyandb__Database__V1__Measure *measure)
{
    const Banyandb__Model__V1__TimeRange *range = message->time_range;
    int64_t interval;
    if (!interval_parse(measure->interval, &interval)) {
        return (struct interval_buckets){.interval = 0};
    }
    return interval_buckets(moment_nanos(moment_of(range->begin)),
                            moment_nanos(moment_of(range->end)), interval);
}

bool topn_rule_find(const topn_message *message, struct request_group *group,
                    const struct catalog *catalog, struct topn_rule *rule, struct error *err)
{
    rule->rule = find_rule(message, group->name, catalog, err);
    if (rule->rule == NULL) {
        return false;
    }
    const Banyandb__Common__V1__Metadata *source = rule->rule->source_measure;
    group->measure = catalog_measure(catalog, slice_str(source->group), slice_str(source->name));
    if (group->measure == NULL) {
        return request_text_fail(err, TYPE_FAULT "failed to get source measure %.200s: " NOT_FOUND,
                                 message->name, source->name);
    }
    const field_spec *field = find_field(group->measure, rule->rule->field_name);
    if (field == NULL) {
        return request_text_fail(err, TYPE_FAULT "field %.200s not found in measure %.200s",
                                 message->name, rule->rule->field_name, source->name);
    }
    bool is_float = field->field_type == BANYANDB__DATABASE__V1__FIELD_TYPE__FIELD_TYPE_FLOAT;
    rule->type = is_float ? PLAN_FLOAT : PLAN_INT;
    rule->buckets = buckets_of(message, group->measure);
    return check_type(message, field, err) && check_direction(message, rule->rule, err);
}
