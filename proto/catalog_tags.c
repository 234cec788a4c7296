// SPDX-License-Identifier: Apache-2.0
#include "proto/catalog_tags.h"

/* As the tag "kind" spells them. */
static const char *const kinds[SCHEMA_KINDS] = {
    [SCHEMA_GROUP] = "group",          [SCHEMA_MEASURE] = "measure",
    [SCHEMA_INDEX_RULE] = "indexRule", [SCHEMA_INDEX_RULE_BINDING] = "indexRuleBinding",
    [SCHEMA_TOPN] = "topNAggregation",
};

static enum schema_kind kind_of(struct slice name)
{
    for (size_t i = 0; i < SCHEMA_KINDS; i++) {
        if (slice_equal(name, slice_str(kinds[i]))) {
            return (enum schema_kind)i;
        }
    }
    return SCHEMA_KINDS;
}

static const Banyandb__Model__V1__TagValue *tag_of(const Banyandb__Property__V1__Property *property,
                                                   const char *key)
{
    for (size_t i = 0; i < property->n_tags; i++) {
        if (strcmp(property->tags[i]->key, key) == 0) {
            return property->tags[i]->value;
        }
    }
    return NULL;
}

/* NULL ptr = no such tag, or not a string. */
static struct slice text_tag(const Banyandb__Property__V1__Property *property, const char *key)
{
    const Banyandb__Model__V1__TagValue *value = tag_of(property, key);
    if (value == NULL || value->value_case != BANYANDB__MODEL__V1__TAG_VALUE__VALUE_STR) {
        return slice_of(NULL, 0);
    }
    return slice_str(value->str->value);
}

static int64_t int_tag(const Banyandb__Property__V1__Property *property, const char *key)
{
    const Banyandb__Model__V1__TagValue *value = tag_of(property, key);
    bool is_int = value != NULL && value->value_case == BANYANDB__MODEL__V1__TAG_VALUE__VALUE_INT;
    return is_int ? value->int_->value : 0;
}

struct catalog_tags catalog_tags_of(const Banyandb__Property__V1__Property *property)
{
    struct slice kind = text_tag(property, "kind");
    if (kind.ptr == NULL && property->metadata != NULL) {
        kind = slice_str(property->metadata->name);
    }
    return (struct catalog_tags){
        .kind = kind_of(kind),
        .group = text_tag(property, "group"),
        .name = text_tag(property, "name"),
        .source = text_tag(property, "source"),
        .updated_at = int_tag(property, "updated_at"),
        .created_at = int_tag(property, "created_at"),
    };
}
