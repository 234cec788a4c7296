// SPDX-License-Identifier: Apache-2.0
#include "proto/request_schema.h"

static bool is_text(struct slice a, const char *b)
{
    return slice_equal(a, slice_str(b));
}

static const Banyandb__Database__V1__TagSpec *
find_in_family(const Banyandb__Database__V1__TagFamilySpec *family, struct slice tag)
{
    for (size_t i = 0; i < family->n_tags; i++) {
        if (is_text(tag, family->tags[i]->name)) {
            return family->tags[i];
        }
    }
    return NULL;
}

const Banyandb__Database__V1__TagSpec *
request_schema_tag(const Banyandb__Database__V1__Measure *measure, struct plan_tag tag)
{
    const Banyandb__Database__V1__TagSpec *found = NULL;
    for (size_t i = 0; i < measure->n_tag_families && found == NULL; i++) {
        if (is_text(tag.family, measure->tag_families[i]->name)) {
            found = find_in_family(measure->tag_families[i], tag.name);
        }
    }
    return found;
}

bool request_schema_has_tag(const Banyandb__Database__V1__Measure *measure, struct plan_tag tag)
{
    return request_schema_tag(measure, tag) != NULL;
}

bool request_schema_has_family(const Banyandb__Database__V1__Measure *measure, struct slice family)
{
    for (size_t i = 0; i < measure->n_tag_families; i++) {
        if (is_text(family, measure->tag_families[i]->name)) {
            return true;
        }
    }
    return false;
}

struct plan_tag request_schema_find_tag(const Banyandb__Database__V1__Measure *measure,
                                        struct slice name)
{
    for (size_t i = 0; i < measure->n_tag_families; i++) {
        if (find_in_family(measure->tag_families[i], name) != NULL) {
            return (struct plan_tag){.family = slice_str(measure->tag_families[i]->name),
                                     .name = name};
        }
    }
    return (struct plan_tag){.family = slice_of(NULL, 0)};
}

const Banyandb__Database__V1__FieldSpec *
request_schema_field(const Banyandb__Database__V1__Measure *measure, struct slice field)
{
    for (size_t i = 0; i < measure->n_fields; i++) {
        if (is_text(field, measure->fields[i]->name)) {
            return measure->fields[i];
        }
    }
    return NULL;
}

bool request_schema_has_field(const Banyandb__Database__V1__Measure *measure, struct slice field)
{
    return request_schema_field(measure, field) != NULL;
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

bool request_schema_projects_field(
    const Banyandb__Measure__V1__QueryRequest__FieldProjection *projection, struct slice field)
{
    for (size_t i = 0; projection != NULL && i < projection->n_names; i++) {
        if (is_text(field, projection->names[i])) {
            return true;
        }
    }
    return false;
}
