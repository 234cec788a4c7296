// SPDX-License-Identifier: Apache-2.0
#include "proto/catalog.h"

#include "proto/alloc.h"
#include "proto/catalog_store.h"

#include <stdlib.h>

struct catalog {
    atomic_size_t count;
    struct catalog_shelf shelves[SCHEMA_KINDS];
    int64_t placement_time;
};

struct catalog *catalog_snapshot(const struct catalog_store *store)
{
    const struct catalog_shelf *shelves = catalog_store_shelves(store);
    struct catalog *catalog = alloc_zeroed(NULL, sizeof *catalog);
    atomic_init(&catalog->count, 1);
    for (size_t i = 0; i < SCHEMA_KINDS; i++) {
        catalog->shelves[i] = catalog_shelf_live(&shelves[i]);
    }
    catalog->placement_time = catalog_store_placement_time(store);
    return catalog;
}

size_t catalog_bytes(const struct catalog *catalog)
{
    size_t bytes = sizeof *catalog;
    for (size_t i = 0; i < SCHEMA_KINDS; i++) {
        const struct catalog_shelf *shelf = &catalog->shelves[i];
        bytes +=
            2 * shelf->capacity * sizeof(struct catalog_object *); /* the store has them, too */
        for (size_t at = 0; at < shelf->count; at++) {
            bytes += shelf->objects[at]->bytes;
        }
    }
    return bytes;
}

struct catalog *catalog_retain(struct catalog *catalog)
{
    atomic_fetch_add_explicit(&catalog->count, 1, memory_order_relaxed);
    return catalog;
}

void catalog_release(struct catalog **catalog)
{
    struct catalog *last = *catalog;
    *catalog = NULL;
    if (last == NULL || atomic_fetch_sub_explicit(&last->count, 1, memory_order_acq_rel) > 1) {
        return;
    }
    for (size_t i = 0; i < SCHEMA_KINDS; i++) {
        catalog_shelf_fini(&last->shelves[i]);
    }
    free(last);
}

static const ProtobufCMessage *find(const struct catalog *catalog, enum schema_kind kind,
                                    struct slice group, struct slice name)
{
    const struct catalog_shelf *shelf = &catalog->shelves[kind];
    size_t place;
    return catalog_shelf_find(shelf, group, name, &place) ? shelf->objects[place]->message : NULL;
}

/* Deleting a group takes everything below it, whether or not the objects' own deletions came. */
static const ProtobufCMessage *find_in_group(const struct catalog *catalog, enum schema_kind kind,
                                             struct slice group, struct slice name)
{
    return catalog_group(catalog, group) == NULL ? NULL : find(catalog, kind, group, name);
}

const Banyandb__Common__V1__Group *catalog_group(const struct catalog *catalog, struct slice group)
{
    const Banyandb__Common__V1__Group *found =
        (const Banyandb__Common__V1__Group *)find(catalog, SCHEMA_GROUP, slice_of("", 0), group);
    bool measures =
        found != NULL && found->catalog == BANYANDB__COMMON__V1__CATALOG__CATALOG_MEASURE;
    return measures ? found : NULL;
}

const Banyandb__Database__V1__Measure *catalog_measure(const struct catalog *catalog,
                                                       struct slice group, struct slice name)
{
    return (const Banyandb__Database__V1__Measure *)find_in_group(catalog, SCHEMA_MEASURE, group,
                                                                  name);
}

const Banyandb__Database__V1__TopNAggregation *catalog_topn(const struct catalog *catalog,
                                                            struct slice group, struct slice name)
{
    return (const Banyandb__Database__V1__TopNAggregation *)find_in_group(catalog, SCHEMA_TOPN,
                                                                          group, name);
}

static bool is_of(const Banyandb__Database__V1__IndexRuleBinding *binding, struct slice measure)
{
    return binding->subject->catalog == BANYANDB__COMMON__V1__CATALOG__CATALOG_MEASURE &&
           slice_equal(slice_str(binding->subject->name), measure);
}

static bool binds(const Banyandb__Database__V1__IndexRuleBinding *binding, struct slice measure,
                  struct slice rule)
{
    if (!is_of(binding, measure)) {
        return false;
    }
    for (size_t i = 0; i < binding->n_rules; i++) {
        if (slice_equal(slice_str(binding->rules[i]), rule)) {
            return true;
        }
    }
    return false;
}

/* begin_at and expire_at of bindings are not looked at, as upstream's query path does. */
const Banyandb__Database__V1__IndexRule *catalog_bound_rule(const struct catalog *catalog,
                                                            struct slice group,
                                                            struct slice measure, struct slice rule)
{
    const struct catalog_shelf *bindings = &catalog->shelves[SCHEMA_INDEX_RULE_BINDING];
    size_t i;
    catalog_shelf_find(bindings, group, slice_of("", 0), &i);
    for (; i < bindings->count && slice_equal(bindings->objects[i]->group, group); i++) {
        const ProtobufCMessage *binding = bindings->objects[i]->message;
        if (binds((const Banyandb__Database__V1__IndexRuleBinding *)binding, measure, rule)) {
            return (const Banyandb__Database__V1__IndexRule *)find_in_group(
                catalog, SCHEMA_INDEX_RULE, group, rule);
        }
    }
    return NULL;
}

static bool lists(const Banyandb__Database__V1__IndexRule *rule, struct slice tag)
{
    for (size_t i = 0; rule != NULL && i < rule->n_tags; i++) {
        if (slice_equal(slice_str(rule->tags[i]), tag)) {
            return true;
        }
    }
    return false;
}

static bool binds_tag(const struct catalog *catalog,
                      const Banyandb__Database__V1__IndexRuleBinding *binding, struct slice group,
                      struct slice tag)
{
    for (size_t i = 0; i < binding->n_rules; i++) {
        const struct slice name = slice_str(binding->rules[i]);
        if (lists((const Banyandb__Database__V1__IndexRule *)find_in_group(
                      catalog, SCHEMA_INDEX_RULE, group, name),
                  tag)) {
            return true;
        }
    }
    return false;
}

bool catalog_tag_has_rule(const struct catalog *catalog, struct slice group, struct slice measure,
                          struct slice tag)
{
    const struct catalog_shelf *bindings = &catalog->shelves[SCHEMA_INDEX_RULE_BINDING];
    size_t i;
    catalog_shelf_find(bindings, group, slice_of("", 0), &i);
    for (; i < bindings->count && slice_equal(bindings->objects[i]->group, group); i++) {
        const Banyandb__Database__V1__IndexRuleBinding *binding =
            (const Banyandb__Database__V1__IndexRuleBinding *)bindings->objects[i]->message;
        if (is_of(binding, measure) && binds_tag(catalog, binding, group, tag)) {
            return true;
        }
    }
    return false;
}

size_t catalog_count(const struct catalog *catalog, enum schema_kind kind)
{
    return catalog->shelves[kind].count;
}

const ProtobufCMessage *catalog_at(const struct catalog *catalog, enum schema_kind kind, size_t i)
{
    return catalog->shelves[kind].objects[i]->message;
}

int64_t catalog_placement_time(const struct catalog *catalog)
{
    return catalog->placement_time;
}
