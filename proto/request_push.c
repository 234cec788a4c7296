// SPDX-License-Identifier: Apache-2.0
/*
 * What a node is asked for: the client's request with a few fields changed.
 *
 *     InternalQueryRequest.request { groups, time_range, projections, limit, trace │ carried }
 *                                    └───────────── small, made anew ────────────┘
 *
 * The parts that stay the same are copied as bytes, so criteria of any size cost one copy, and
 * fields that this version does not know reach the node.
 */
#include "proto/pbw.h"
#include "proto/request.h"
#include "proto/request_schema.h"

typedef Banyandb__Measure__V1__QueryRequest query_request;
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
    /* One more than there are, for the hidden tag. */
    to->tag_families = arena_array(arena, tag_family *, from->n_tag_families + 1);
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

static tag_projection *pushed_tags(const struct request *request,
                                   const Banyandb__Database__V1__Measure *measure,
                                   struct arena *arena)
{
    bool hidden = request->plan.order_hidden;
    tag_projection *asked = request->message->tag_projection;
    if (!hidden && (asked == NULL || request->group_count == 1)) {
        return asked;
    }
    tag_projection *projection = copy_tags(asked, arena);
    if (hidden) {
        append_tag(projection, request->plan.order_tag, arena);
    }
    return request->group_count == 1 ? projection : reduce_tags(projection, measure, arena);
}

static field_projection *pushed_fields(const struct request *request,
                                       const Banyandb__Database__V1__Measure *measure,
                                       struct arena *arena)
{
    field_projection *asked = request->message->field_projection;
    if (asked == NULL || request->group_count == 1) {
        return asked;
    }
    field_projection *projection = arena_new(arena, field_projection);
    *projection = *asked;
    projection->names = arena_array(arena, char *, asked->n_names);
    projection->n_names = 0;
    for (size_t i = 0; i < asked->n_names; i++) {
        if (request_schema_has_field(measure, slice_str(asked->names[i]))) {
            projection->names[projection->n_names++] = asked->names[i];
        }
    }
    return projection->n_names == 0 ? NULL : projection;
}

/* A node sends the first rows in order, and no row of the answer lies behind its first
 * offset + limit ones; but in index mode it cuts before it sorts. */
static uint32_t pushed_limit(const struct plan *plan,
                             const Banyandb__Database__V1__Measure *measure)
{
    uint64_t rows = plan->offset + plan->limit;
    return measure->index_mode || rows > UINT32_MAX ? UINT32_MAX : (uint32_t)rows;
}

static struct slice pack(const query_request *changed, struct slice carried, struct arena *arena)
{
    size_t changed_size = banyandb__measure__v1__query_request__get_packed_size(changed);
    size_t inner = changed_size + carried.len;
    size_t size = pbw_bytes_size(1, inner);
    uint8_t *start = arena_alloc(arena, size, 1);
    uint8_t *at = pbw_key(start, 1, PBW_BYTES);
    at = pbw_varint(at, inner);
    at += banyandb__measure__v1__query_request__pack(changed, at);
    at = pbw_copy(at, carried);
    return slice_of(start, (size_t)(at - start));
}

struct slice request_push(const struct request *request, size_t group, struct arena *arena)
{
    const struct request_group *asked = &request->groups[group];
    query_request changed;
    banyandb__measure__v1__query_request__init(&changed);
    char *name = (char *)(uintptr_t)asked->name.ptr;
    changed.n_groups = 1;
    changed.groups = &name;
    changed.time_range = request->message->time_range;
    changed.tag_projection = pushed_tags(request, asked->measure, arena);
    changed.field_projection = pushed_fields(request, asked->measure, arena);
    changed.limit = pushed_limit(&request->plan, asked->measure);
    changed.trace = request->trace;
    return pack(&changed, request->carried, arena);
}
