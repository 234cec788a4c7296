// SPDX-License-Identifier: Apache-2.0
#include "proto/catalog_valid.h"

#include <assert.h>

static bool lacks(struct error *err, const char *what)
{
    return error_set(err, ERROR_INVALID_ARGUMENT, "%s", what);
}

static bool is_interval(const Banyandb__Common__V1__IntervalRule *rule)
{
    return rule != NULL && rule->num > 0 &&
           rule->unit != BANYANDB__COMMON__V1__INTERVAL_RULE__UNIT__UNIT_UNSPECIFIED;
}

/* Groups of other catalogs are kept only because their changes move shards. */
static bool valid_group(const Banyandb__Common__V1__Group *group, struct error *err)
{
    if (group->metadata->name[0] == '\0') {
        return lacks(err, "the group has no name");
    }
    if (group->catalog != BANYANDB__COMMON__V1__CATALOG__CATALOG_MEASURE) {
        return true;
    }
    const Banyandb__Common__V1__ResourceOpts *opts = group->resource_opts;
    if (opts == NULL || opts->shard_num == 0) {
        return lacks(err, "the group has no shards");
    }
    if (!is_interval(opts->segment_interval)) {
        return lacks(err, "the group's segment interval lacks unit or number");
    }
    return is_interval(opts->ttl) || lacks(err, "the group's ttl lacks unit or number");
}

static bool valid_name(const Banyandb__Common__V1__Metadata *metadata, struct error *err)
{
    if (metadata->group[0] == '\0') {
        return lacks(err, "the object has no group");
    }
    return metadata->name[0] != '\0' || lacks(err, "the object has no name");
}

static bool valid_family(const Banyandb__Database__V1__TagFamilySpec *family, struct error *err)
{
    if (family->name[0] == '\0') {
        return lacks(err, "a tag family has no name");
    }
    for (size_t i = 0; i < family->n_tags; i++) {
        const Banyandb__Database__V1__TagSpec *tag = family->tags[i];
        if (tag->name[0] == '\0' ||
            tag->type == BANYANDB__DATABASE__V1__TAG_TYPE__TAG_TYPE_UNSPECIFIED) {
            return error_set(err, ERROR_INVALID_ARGUMENT,
                             "tag %zu of family %.200s has no name or no type", i, family->name);
        }
    }
    return true;
}

static bool valid_field(const Banyandb__Database__V1__FieldSpec *field, struct error *err)
{
    if (field->name[0] == '\0') {
        return lacks(err, "a field has no name");
    }
    if (field->field_type == BANYANDB__DATABASE__V1__FIELD_TYPE__FIELD_TYPE_UNSPECIFIED ||
        field->compression_method ==
            BANYANDB__DATABASE__V1__COMPRESSION_METHOD__COMPRESSION_METHOD_UNSPECIFIED) {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "field %.200s has no type or no compression method", field->name);
    }
    return true;
}

static bool valid_measure(const Banyandb__Database__V1__Measure *measure, struct error *err)
{
    if (!valid_name(measure->metadata, err)) {
        return false;
    }
    if (measure->entity == NULL || measure->entity->n_tag_names == 0) {
        return lacks(err, "the measure has no entity");
    }
    if (measure->n_tag_families == 0) {
        return lacks(err, "the measure has no tag families");
    }
    if (measure->index_mode && measure->n_fields > 0) {
        return lacks(err, "the measure is in index mode and has fields");
    }
    for (size_t i = 0; i < measure->n_fields; i++) {
        if (!valid_field(measure->fields[i], err)) {
            return false;
        }
    }
    for (size_t i = 0; i < measure->n_tag_families; i++) {
        if (!valid_family(measure->tag_families[i], err)) {
            return false;
        }
    }
    return true;
}

static bool valid_rule(const Banyandb__Database__V1__IndexRule *rule, struct error *err)
{
    if (!valid_name(rule->metadata, err)) {
        return false;
    }
    if (rule->metadata->id == 0) {
        return lacks(err, "the index rule has no id");
    }
    if (rule->n_tags == 0) {
        return lacks(err, "the index rule has no tags");
    }
    return rule->type != BANYANDB__DATABASE__V1__INDEX_RULE__TYPE__TYPE_UNSPECIFIED ||
           lacks(err, "the index rule has no type");
}

static bool valid_binding(const Banyandb__Database__V1__IndexRuleBinding *binding,
                          struct error *err)
{
    if (!valid_name(binding->metadata, err)) {
        return false;
    }
    if (binding->subject == NULL || binding->subject->name[0] == '\0') {
        return lacks(err, "the binding has no subject");
    }
    return binding->n_rules > 0 || lacks(err, "the binding has no rules");
}

static bool valid_topn(const Banyandb__Database__V1__TopNAggregation *topn, struct error *err)
{
    if (!valid_name(topn->metadata, err)) {
        return false;
    }
    if (topn->source_measure == NULL || topn->source_measure->name[0] == '\0' ||
        topn->source_measure->group[0] == '\0') {
        return lacks(err, "the TopN aggregation has no source measure");
    }
    return topn->field_name[0] != '\0' || lacks(err, "the TopN aggregation has no field");
}

bool catalog_valid(enum schema_kind kind, const ProtobufCMessage *message, struct error *err)
{
    switch (kind) {
    case SCHEMA_GROUP:
        return valid_group((const Banyandb__Common__V1__Group *)message, err);
    case SCHEMA_MEASURE:
        return valid_measure((const Banyandb__Database__V1__Measure *)message, err);
    case SCHEMA_INDEX_RULE:
        return valid_rule((const Banyandb__Database__V1__IndexRule *)message, err);
    case SCHEMA_INDEX_RULE_BINDING:
        return valid_binding((const Banyandb__Database__V1__IndexRuleBinding *)message, err);
    case SCHEMA_TOPN:
        return valid_topn((const Banyandb__Database__V1__TopNAggregation *)message, err);
    case SCHEMA_KINDS:
        break;
    }
    assert(false);
    return false;
}
