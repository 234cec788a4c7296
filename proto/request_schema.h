// SPDX-License-Identifier: Apache-2.0
/* What a measure's schema and a projection have: look-ups by name. */
#pragma once

#include "frame/slice.h"
#include "merge/plan.h"
#include "proto/database.pb-c.h"
#include "proto/measure.pb-c.h"
#include "proto/request.h"

bool request_schema_has_tag(const Banyandb__Database__V1__Measure *measure, struct plan_tag tag);
bool request_schema_has_field(const Banyandb__Database__V1__Measure *measure, struct slice field);
bool request_schema_has_family(const Banyandb__Database__V1__Measure *measure, struct slice family);
/* The tag of this family, or the field; NULL if none. */
const Banyandb__Database__V1__TagSpec *
request_schema_tag(const Banyandb__Database__V1__Measure *measure, struct plan_tag tag);
const Banyandb__Database__V1__FieldSpec *
request_schema_field(const Banyandb__Database__V1__Measure *measure, struct slice field);
/* The measure of any group asked. */
bool request_schema_any_has_tag(const struct request *request, struct plan_tag tag);
bool request_schema_any_has_field(const struct request *request, struct slice field);

/* The first family of the schema that has a tag of this name; its family.ptr is NULL if none. */
struct plan_tag request_schema_find_tag(const Banyandb__Database__V1__Measure *measure,
                                        struct slice name);

/* NULL projects nothing. */
bool request_schema_projects(const Banyandb__Model__V1__TagProjection *projection,
                             struct plan_tag tag);
bool request_schema_projects_field(
    const Banyandb__Measure__V1__QueryRequest__FieldProjection *projection, struct slice field);
