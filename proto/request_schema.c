// SPDX-License-Identifier: Apache-2.0
#include "proto/request_schema.h"

static bool is_text(struct slice a, const char *b)
{
    return slice_equal(a, slice_str(b));
}

static bool family_has(const Banyandb__Database__V1__TagFamilySpec *family, struct slice tag)
{
    for (size_t i = 0; i < family->n_tags; i++) {
        if (is_text(tag, family->tags[i]->name)) {
            return true;
        }
    }
    return false;
}

bool request_schema_has_tag(const Banyandb__Database__V1__Measure *measure, struct plan_tag tag)
{
    for (size_t i = 0; i < measure->n_tag_families; i++) {
        const Banyandb__Database__V1__TagFamilySpec *family = measure->tag_families[i];
        if (is_text(tag.family, family->name) && family_has(family, tag.name)) {
            return true;
        }
    }
    return false;
}

struct plan_tag request_schema_find_tag(const Banyandb__Database__V1__Measure *measure,
                                        struct slice name)
{
    for (size_t i = 0; i < measure->n_tag_families; i++) {
        if (family_has(measure->tag_families[i], name)) {
            return (struct plan_tag){.family = slice_str(measure->tag_families[i]->name),
                                     .name = name};
        }
    }
    return (struct plan_tag){.family = slice_of(NULL, 0)};
}

bool request_schema_has_field(const Banyandb__Database__V1__Measure *measure, struct slice field)
{
    for (size_t i = 0; i < measure->n_fields; i++) {
        if (is_text(field, measure->fields[i]->name)) {
            return true;
        }
    }
    return false;
}

bool request_schema_any_has_tag(const struct request *request, struct plan_tag tag)
{
    for (size_t i = 0; i < request->group_count; i++) {
        if (request_schema_has_tag(request->groups[i].measure, tag)) {
            return true;
        }
    }
    return false;
}

bool request_schema_any_has_field(const struct request *request, struct slice field)
{
    for (size_t i = 0; i < request->group_count; i++) {
        if (request_schema_has_field(request->groups[i].measure, field)) {
            return true;
        }
    }
    return false;
}

static bool lists(const Banyandb__Model__V1__TagProjection__TagFamily *family, struct slice tag)
{
    for (size_t i = 0; i < family->n_tags; i++) {
        if (is_text(tag, family->tags[i])) {
            return true;
        }
    }
    return false;
}

bool request_schema_projects(const Banyandb__Model__V1__TagProjection *projection,
                             struct plan_tag tag)
{
    for (size_t i = 0; projection != NULL && i < projection->n_tag_families; i++) {
        const Banyandb__Model__V1__TagProjection__TagFamily *family = projection->tag_families[i];
        if (is_text(tag.family, family->name) && lists(family, tag.name)) {
            return true;
        }
    }
    return false;
}
