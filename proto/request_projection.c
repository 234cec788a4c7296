// SPDX-License-Identifier: Apache-2.0
/* The client's message stays as it is: a projection is copied before it is changed. */
#include "proto/request_projection.h"

#include "proto/request_schema.h"

typedef Banyandb__Measure__V1__QueryRequest__FieldProjection field_projection;
typedef Banyandb__Model__V1__TagProjection tag_projection;
typedef Banyandb__Model__V1__TagProjection__TagFamily tag_family;

/* The families of the client's projection, copied so that they can be changed. */
static tag_projection *copy_tags(const tag_projection *from, struct arena *arena)
{
    tag_projection none;
    banyandb__model__v1__tag_projection__init(&none);
    from = from == NULL ? &none : from;
    tag_projection *to = arena_new(arena, tag_projection);
    *to = *from;
    /* Two more than there are: for the hidden tag, and for the keys. */
    to->tag_families = arena_array(arena, tag_family *, from->n_tag_families + 2);
    for (size_t i = 0; i < from->n_tag_families; i++) {
        to->tag_families[i] = arena_new(arena, tag_family);
        *to->tag_families[i] = *from->tag_families[i];
    }
    return to;
}

static tag_family *family_called(tag_projection *projection, struct slice name, struct arena *arena)
{
    for (size_t i = 0; i < projection->n_tag_families; i++) {
        if (slice_equal(slice_str(projection->tag_families[i]->name), name)) {
            return projection->tag_families[i];
        }
    }
    tag_family *family = arena_new(arena, tag_family);
    banyandb__model__v1__tag_projection__tag_family__init(family);
    family->name = (char *)(uintptr_t)name.ptr;
    projection->tag_families[projection->n_tag_families++] = family;
    return family;
}

/* Names of the plan are strings of the message or of the catalog: a NUL follows. */
static void append_tag(tag_projection *projection, struct plan_tag tag, struct arena *arena)
{
    tag_family *family = family_called(projection, tag.family, arena);
    char **tags = arena_array(arena, char *, family->n_tags + 1);
    if (family->n_tags > 0) {
        memcpy(tags, family->tags, family->n_tags * sizeof *tags);
    }
    tags[family->n_tags++] = (char *)(uintptr_t)tag.name.ptr;
    family->tags = tags;
}

static void reduce_family(tag_family *family, const Banyandb__Database__V1__Measure *measure,
                          struct arena *arena)
{
    char **tags = arena_array(arena, char *, family->n_tags);
    size_t kept = 0;
    for (size_t i = 0; i < family->n_tags; i++) {
        struct plan_tag tag = {slice_str(family->name), slice_str(family->tags[i])};
        if (request_schema_has_tag(measure, tag)) {
            tags[kept++] = family->tags[i];
        }
    }
    family->tags = tags;
    family->n_tags = kept;
}

/* Only what this group's measure has; NULL when that is nothing. */
static tag_projection *reduce_tags(tag_projection *projection,
                                   const Banyandb__Database__V1__Measure *measure,
                                   struct arena *arena)
{
    size_t kept = 0;
    for (size_t i = 0; i < projection->n_tag_families; i++) {
        reduce_family(projection->tag_families[i], measure, arena);
        if (projection->tag_families[i]->n_tags > 0) {
            projection->tag_families[kept++] = projection->tag_families[i];
        }
    }
    projection->n_tag_families = kept;
    return kept == 0 ? NULL : projection;
}

/* Nodes that aggregate sort and group by what they read for it themselves. */
static void append_needed(const struct request *request, tag_projection *projection,
                          struct arena *arena)
{
    const struct plan *plan = &request->plan;
    if (plan->order_hidden) {
        append_tag(projection, plan->order_tag, arena);
    }
    for (size_t i = 0; i < plan->key_count; i++) {
        if (!request_schema_projects(projection, plan->keys[i])) {
            append_tag(projection, plan->keys[i], arena);
        }
    }
}

tag_projection *request_projection_tags(const struct request *request,
                                        const Banyandb__Database__V1__Measure *measure,
                                        struct arena *arena)
{
    const struct plan *plan = &request->plan;
    bool needs = plan->mode != PLAN_PARTIALS && (plan->order_hidden || plan->key_count > 0);
    tag_projection *asked = request->message->tag_projection;
    if (!needs && (asked == NULL || !request->several)) {
        return asked;
    }
    tag_projection *projection = copy_tags(asked, arena);
    if (needs) {
        append_needed(request, projection, arena);
    }
    return !request->several ? projection : reduce_tags(projection, measure, arena);
}

static field_projection *new_fields(const field_projection *from, struct arena *arena)
{
    field_projection *to = arena_new(arena, field_projection);
    banyandb__measure__v1__query_request__field_projection__init(to);
    /* One more than there are, for a hidden one. */
    to->names = arena_array(arena, char *, from == NULL ? 1 : from->n_names + 1);
    for (size_t i = 0; from != NULL && i < from->n_names; i++) {
        to->names[to->n_names++] = from->names[i];
    }
    return to;
}

static void append_field(field_projection *projection, struct slice name)
{
    projection->names[projection->n_names++] = (char *)(uintptr_t)name.ptr;
}

/* Only what this group's measure has; NULL when that is nothing. */
static field_projection *reduce_fields(field_projection *projection,
                                       const Banyandb__Database__V1__Measure *measure)
{
    size_t kept = 0;
    for (size_t i = 0; i < projection->n_names; i++) {
        if (request_schema_has_field(measure, slice_str(projection->names[i]))) {
            projection->names[kept++] = projection->names[i];
        }
    }
    projection->n_names = kept;
    return kept == 0 ? NULL : projection;
}

field_projection *request_projection_fields(const struct request *request,
                                            const Banyandb__Database__V1__Measure *measure,
                                            struct arena *arena)
{
    const struct plan *plan = &request->plan;
    field_projection *asked = request->message->field_projection;
    if (plan->mode == PLAN_FOLD) {
        field_projection *one = new_fields(NULL, arena);
        append_field(one, plan->agg.field);
        return one;
    }
    if (!plan->top.hidden && (asked == NULL || !request->several)) {
        return asked;
    }
    field_projection *projection = new_fields(asked, arena);
    if (plan->top.hidden) {
        append_field(projection, plan->top.field);
    }
    return !request->several ? projection : reduce_fields(projection, measure);
}

static tag_projection *entity_tag(const Banyandb__Database__V1__Measure *measure,
                                  struct arena *arena)
{
    struct plan_tag tag =
        request_schema_find_tag(measure, slice_str(measure->entity->tag_names[0]));
    if (tag.family.ptr == NULL) {
        return NULL; /* an entity that the schema does not have */
    }
    tag_projection *projection = copy_tags(NULL, arena);
    append_tag(projection, tag, arena);
    return projection;
}

/* Without projected tags the answer has all tags of the schemas, without projected fields all
 * fields: what is asked for is of the kind that is projected. */
void request_projection_any(const struct request *request,
                            const Banyandb__Database__V1__Measure *measure,
                            Banyandb__Measure__V1__QueryRequest *asked, struct arena *arena)
{
    const tag_projection *tags = request->message->tag_projection;
    if ((tags != NULL && tags->n_tag_families > 0) || measure->n_fields == 0) {
        asked->tag_projection = entity_tag(measure, arena);
        return;
    }
    asked->field_projection = new_fields(NULL, arena);
    append_field(asked->field_projection, slice_str(measure->fields[0]->name));
}
