// SPDX-License-Identifier: Apache-2.0
#include "proto/request_parts.h"

#include "proto/moment.h"
#include "proto/request_projection.h"

#include <stdarg.h>
#include <stdio.h>

typedef Banyandb__Database__V1__Measure measure_schema;
typedef Banyandb__Model__V1__Criteria criteria_message;

#define QUARTER INT64_C(900000000000) /* of an hour, ns */

__attribute__((format(printf, 2, 3))) static const char *say(struct arena *arena, const char *fmt,
                                                             ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, fmt);
    (void)vsnprintf(text, sizeof text, fmt, arguments);
    va_end(arguments);
    return arena_strdup(arena, slice_str(text));
}

static const char *say_indexed(struct arena *arena, const char *tag)
{
    return say(arena,
               "the tag %.200s is indexed, and a data node looks its values up in all segments of "
               "the range; only a range within one quarter of an hour is surely in one of them",
               tag);
}

static bool in_entity(const measure_schema *measure, const char *tag)
{
    for (size_t i = 0; measure->entity != NULL && i < measure->entity->n_tag_names; i++) {
        if (strcmp(measure->entity->tag_names[i], tag) == 0) {
            return true;
        }
    }
    return false;
}

/* The first tag asked for that belongs to the series, or NULL. */

static const char *find_in_family(const Banyandb__Model__V1__TagProjection__TagFamily *family,
                                  const struct request_group *group, const struct catalog *catalog)
{
    const struct slice measure = slice_str(group->measure->metadata->name);
    for (size_t i = 0; i < family->n_tags; i++) {
        const char *tag = family->tags[i];
        if (!in_entity(group->measure, tag) &&
            catalog_tag_has_rule(catalog, group->name, measure, slice_str(tag))) {
            return tag;
        }
    }
    return NULL;
}

static const char *find_shown(const struct request *request, const struct request_group *group,
                              const struct catalog *catalog, struct arena *arena)
{
    const Banyandb__Model__V1__TagProjection *shown =
        request_projection_tags(request, group->measure, arena);
    const char *found = NULL;
    for (size_t i = 0; shown != NULL && i < shown->n_tag_families && found == NULL; i++) {
        found = find_in_family(shown->tag_families[i], group, catalog);
    }
    return found;
}

/* Criteria that are still to be looked at. */
struct pending {
    const criteria_message *criteria; /* borrow: the message */
    struct pending *next;             /* borrow: the region */
};

static void put(struct pending **pending, const criteria_message *criteria, struct arena *arena)
{
    if (criteria != NULL) {
        struct pending *first = arena_new(arena, struct pending);
        *first = (struct pending){criteria, *pending};
        *pending = first;
    }
}

/* The first tag that rows are chosen by and that is not in the entity, or NULL: nodes take such a
 * condition only when the tag is indexed. */
static const char *find_condition(const struct request *request, const measure_schema *measure,
                                  struct arena *arena)
{
    struct pending *pending = NULL;
    put(&pending, request->message->criteria, arena);
    while (pending != NULL) {
        const criteria_message *criteria = pending->criteria;
        pending = pending->next;
        if (criteria->exp_case == BANYANDB__MODEL__V1__CRITERIA__EXP_LE) {
            put(&pending, criteria->le->right, arena);
            put(&pending, criteria->le->left, arena);
        } else if (criteria->exp_case == BANYANDB__MODEL__V1__CRITERIA__EXP_CONDITION &&
                   !in_entity(measure, criteria->condition->name)) {
            return criteria->condition->name;
        }
    }
    return NULL;
}

static int64_t quarter_of(const Google__Protobuf__Timestamp *timestamp)
{
    const int64_t nanos = moment_nanos(moment_of(timestamp));
    return nanos / QUARTER - (nanos % QUARTER < 0);
}

static bool is_in_one_segment(const struct request *request)
{
    const Banyandb__Model__V1__TimeRange *range = request->message->time_range;
    return quarter_of(range->begin) == quarter_of(range->end);
}

static const char *find_obstacle(const struct request *request, const struct request_group *group,
                                 const struct catalog *catalog, struct arena *arena)
{
    if (group->measure->index_mode) {
        return say(arena, "the measure is in index mode: of each series the newest row counts");
    }
    if (is_in_one_segment(request)) {
        return NULL;
    }
    const char *tag = find_shown(request, group, catalog, arena);
    if (tag == NULL) {
        tag = find_condition(request, group->measure, arena);
    }
    return tag == NULL ? NULL : say_indexed(arena, tag);
}

const char *request_parts_obstacle(const struct request *request, const struct catalog *catalog,
                                   struct arena *arena)
{
    const char *obstacle = NULL;
    for (size_t i = 0; i < request->group_count && obstacle == NULL; i++) {
        obstacle = find_obstacle(request, &request->groups[i], catalog, arena);
    }
    return obstacle;
}
