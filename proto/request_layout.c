// SPDX-License-Identifier: Apache-2.0
#include "proto/request_layout.h"

#include "proto/request_schema.h"
#include "proto/request_text.h"

typedef Banyandb__Measure__V1__QueryRequest query_request;

/* Columns in the making: there is room for the largest possible number. */
struct columns {
    struct layout_column *at;
    size_t count;
};

static void add(struct columns *columns, struct slice family, struct slice name)
{
    columns->at[columns->count++] = (struct layout_column){.family = family, .name = name};
}

static struct layout_column *find(const struct columns *columns, struct slice family,
                                  struct slice name)
{
    for (size_t i = 0; i < columns->count; i++) {
        struct layout_column *column = &columns->at[i];
        if (slice_equal(column->name, name) && slice_equal(column->family, family)) {
            return column;
        }
    }
    return NULL;
}

static void add_once(struct columns *columns, const char *family, const char *name)
{
    if (find(columns, slice_str(family), slice_str(name)) == NULL) {
        add(columns, slice_str(family), slice_str(name));
    }
}

static size_t schema_tags(const Banyandb__Database__V1__Measure *measure)
{
    size_t count = 0;
    for (size_t i = 0; i < measure->n_tag_families; i++) {
        count += measure->tag_families[i]->n_tags;
    }
    return count;
}

static size_t projected_tags(const Banyandb__Model__V1__TagProjection *projection)
{
    size_t count = 0;
    for (size_t i = 0; projection != NULL && i < projection->n_tag_families; i++) {
        count += projection->tag_families[i]->n_tags;
    }
    return count;
}

static struct columns new_columns(const struct request *request, struct arena *arena)
{
    const query_request *message = request->message;
    size_t room = projected_tags(message->tag_projection) + request->plan.key_count + 3;
    room += message->field_projection == NULL ? 0 : message->field_projection->n_names;
    for (size_t i = 0; i < request->group_count; i++) {
        const Banyandb__Database__V1__Measure *measure = request->groups[i].measure;
        room += schema_tags(measure) + measure->n_fields;
    }
    return (struct columns){.at = arena_array(arena, struct layout_column, room)};
}

static bool add_projected_family(struct columns *columns, const struct request *request,
                                 const Banyandb__Model__V1__TagProjection__TagFamily *family,
                                 struct error *err)
{
    for (size_t i = 0; i < family->n_tags; i++) {
        struct plan_tag tag = {slice_str(family->name), slice_str(family->tags[i])};
        if (request_schema_any_has_tag(request, tag)) {
            add(columns, tag.family, tag.name);
        } else if (!request_aggregates(request)) {
            return request_text_fail(err,
                                     "fail to execute the query plan for measure %.200s: vec "
                                     "distributed plan: build multi-group schema: %.200s: tag is "
                                     "not defined",
                                     request->message->name, family->tags[i]);
        }
    }
    return true;
}

static void add_schema_tags(struct columns *columns, const Banyandb__Database__V1__Measure *measure)
{
    for (size_t i = 0; i < measure->n_tag_families; i++) {
        const Banyandb__Database__V1__TagFamilySpec *family = measure->tag_families[i];
        for (size_t k = 0; k < family->n_tags; k++) {
            add_once(columns, family->name, family->tags[k]->name);
        }
    }
}

static void add_all_schema_tags(struct columns *columns, const struct request *request)
{
    for (size_t i = 0; i < request->group_count; i++) {
        add_schema_tags(columns, request->groups[i].measure);
    }
}

static bool add_tags(struct columns *columns, const struct request *request, struct error *err)
{
    const Banyandb__Model__V1__TagProjection *projection = request->message->tag_projection;
    if (projection == NULL || projection->n_tag_families == 0) {
        if (!request_aggregates(request)) {
            add_all_schema_tags(columns, request);
        }
        return true;
    }
    for (size_t i = 0; i < projection->n_tag_families; i++) {
        if (!add_projected_family(columns, request, projection->tag_families[i], err)) {
            return false;
        }
    }
    return true;
}

static void add_keys(struct columns *columns, const struct plan *plan)
{
    for (size_t i = 0; i < plan->key_count; i++) {
        if (find(columns, plan->keys[i].family, plan->keys[i].name) == NULL) {
            add(columns, plan->keys[i].family, plan->keys[i].name);
        }
    }
}

static void hide(struct columns *columns, struct slice family, struct slice name)
{
    struct layout_column *column = find(columns, family, name);
    if (column == NULL) {
        add(columns, family, name);
        column = &columns->at[columns->count - 1];
    }
    column->hidden = true;
}

static void add_fields(struct columns *fields, const struct request *request)
{
    const Banyandb__Measure__V1__QueryRequest__FieldProjection *projection =
        request->message->field_projection;
    if (request_aggregates(request)) {
        add(fields, slice_of("", 0), request->plan.agg.field);
        return;
    }
    if (projection != NULL && projection->n_names > 0) {
        for (size_t i = 0; i < projection->n_names; i++) {
            add(fields, slice_of("", 0), slice_str(projection->names[i]));
        }
        return;
    }
    for (size_t i = 0; i < request->group_count; i++) {
        const Banyandb__Database__V1__Measure *measure = request->groups[i].measure;
        for (size_t k = 0; k < measure->n_fields; k++) {
            add_once(fields, "", measure->fields[k]->name);
        }
    }
}

/* Projected tags are known to some group, or the layout is refused. */
static bool shows(const struct request *request)
{
    const struct plan *plan = &request->plan;
    const Banyandb__Measure__V1__QueryRequest__FieldProjection *fields =
        request->message->field_projection;
    bool found = plan->order_hidden || plan->top.hidden || plan->key_count > 0 ||
                 projected_tags(request->message->tag_projection) > 0;
    for (size_t i = 0; !found && fields != NULL && i < fields->n_names; i++) {
        found = request_schema_any_has_field(request, slice_str(fields->names[i]));
    }
    return found;
}

bool request_layout(struct request *request, struct arena *arena, struct error *err)
{
    struct columns tags = new_columns(request, arena);
    if (!add_tags(&tags, request, err)) {
        return false;
    }
    const struct plan *plan = &request->plan;
    add_keys(&tags, plan);
    if (plan->order_hidden) {
        hide(&tags, plan->order_tag.family, plan->order_tag.name);
    }
    struct columns fields = {.at = tags.at + tags.count};
    add_fields(&fields, request);
    if (plan->top.hidden) {
        hide(&fields, slice_of("", 0), plan->top.field);
    }
    struct layout *layout = arena_new(arena, struct layout);
    *layout =
        (struct layout){.tag_count = tags.count, .field_count = fields.count, .columns = tags.at};
    request->plan.layout = layout;
    request->shows = shows(request);
    return true;
}

static struct columns shown_tags(const struct request *request, struct arena *arena)
{
    const Banyandb__Model__V1__TagProjection *projection = request->message->tag_projection;
    struct columns tags = new_columns(request, arena);
    for (size_t i = 0; projection != NULL && i < projection->n_tag_families; i++) {
        const Banyandb__Model__V1__TagProjection__TagFamily *family = projection->tag_families[i];
        for (size_t k = 0; k < family->n_tags; k++) {
            add_once(&tags, family->name, family->tags[k]);
        }
    }
    return tags;
}

const struct layout *request_layout_shown(const struct request *request, struct arena *arena)
{
    if (request->plan.layout != NULL) {
        return request->plan.layout;
    }
    const Banyandb__Measure__V1__QueryRequest__FieldProjection *projection =
        request->message->field_projection;
    struct columns tags = shown_tags(request, arena);
    struct columns fields = {.at = tags.at + tags.count};
    for (size_t i = 0; projection != NULL && i < projection->n_names; i++) {
        add_once(&fields, "", projection->names[i]);
    }
    struct layout *layout = arena_new(arena, struct layout);
    *layout =
        (struct layout){.tag_count = tags.count, .field_count = fields.count, .columns = tags.at};
    return layout;
}
