// SPDX-License-Identifier: Apache-2.0
#include "proto/catalog_store.h"

#include "proto/alloc.h"

#include <stdlib.h>

/*
 * The store: for each object the newest state that any server told, live or deleted. The order is
 * (updated_at, then deleted over live), so the result does not depend on the order in which
 * servers, lists and replays deliver: upstream's rule for comparing digests of several servers,
 * applied to every event.
 *
 * A deletion of an older revision than the one that is here says nothing about it: servers keep
 * such tombstones, dated later than the live revision, after a repair. The deletion of an object
 * pushes one event for each revision, so the newest one's comes too.
 */

#define TOMBSTONES_MAX 50000u /* servers forget theirs after 7 days */

struct catalog_store {
    struct catalog_shelf shelves[SCHEMA_KINDS]; /* tombstones included */
    size_t tombstones;
    int64_t latest;
    int64_t revision;
    int64_t placement_time;
};

struct catalog_store *catalog_store_new(void)
{
    struct catalog_store *store = alloc_zeroed(NULL, sizeof(struct catalog_store));
    store->latest = INT64_MAX;
    return store;
}

void catalog_store_clock(struct catalog_store *store, int64_t latest)
{
    store->latest = latest;
}

void catalog_store_free(struct catalog_store **store)
{
    if (*store == NULL) {
        return;
    }
    for (size_t i = 0; i < SCHEMA_KINDS; i++) {
        catalog_shelf_fini(&(*store)->shelves[i]);
    }
    free(*store);
    *store = NULL;
}

static void raise_to(int64_t *value, int64_t seen)
{
    *value = seen > *value ? seen : *value;
}

static void note_revision(struct catalog_store *store, int64_t revision)
{
    if (revision <= store->latest) {
        raise_to(&store->revision, revision);
    }
}

static void note_placement(struct catalog_store *store, int64_t moment)
{
    raise_to(&store->placement_time, moment <= store->latest ? moment : store->latest);
}

static void note(struct catalog_store *store, const struct catalog_tags *tags, int64_t delete_time)
{
    note_revision(store, tags->updated_at);
    note_revision(store, delete_time);
    if (tags->kind == SCHEMA_GROUP) {
        note_placement(store, tags->updated_at);
        note_placement(store, tags->created_at);
        note_placement(store, delete_time);
    }
}

static struct catalog_object *held(const struct catalog_store *store,
                                   const struct catalog_tags *tags)
{
    const struct catalog_shelf *shelf = &store->shelves[tags->kind];
    size_t place;
    bool found = catalog_shelf_find(shelf, tags->group, tags->name, &place);
    return found ? shelf->objects[place] : NULL;
}

/* Takes the object. */
static void replace(struct catalog_store *store, enum schema_kind kind,
                    const struct catalog_object *old, struct catalog_object *object)
{
    store->tombstones -= old != NULL && old->message == NULL ? 1 : 0;
    store->tombstones += object->message == NULL ? 1 : 0;
    catalog_shelf_put(&store->shelves[kind], object);
}

enum catalog_change catalog_store_put(struct catalog_store *store,
                                      const Banyandb__Property__V1__Property *property,
                                      struct error *err)
{
    struct catalog_tags tags = catalog_tags_of(property);
    note(store, &tags, 0);
    if (tags.kind == SCHEMA_KINDS) {
        return CATALOG_UNCHANGED;
    }
    const struct catalog_object *old = held(store, &tags);
    if (old != NULL && old->updated_at >= tags.updated_at) {
        return CATALOG_UNCHANGED;
    }
    struct catalog_object *object = catalog_object_parse(property, &tags, err);
    if (object == NULL) {
        return CATALOG_BAD;
    }
    replace(store, tags.kind, old, object);
    return CATALOG_CHANGED;
}

/* All of them at once, which is rare: what a late server may then bring back is put right by the
 * next full compare. */
static void drop_tombstones(struct catalog_store *store)
{
    for (size_t kind = 0; kind < SCHEMA_KINDS; kind++) {
        struct catalog_shelf live = catalog_shelf_live(&store->shelves[kind]);
        catalog_shelf_fini(&store->shelves[kind]);
        store->shelves[kind] = live;
    }
    store->tombstones = 0;
}

/* The deletion came before the object was last written. A date of the future does not tell. */
static bool is_before(const struct catalog_store *store, int64_t delete_time,
                      const struct catalog_object *old)
{
    return old->updated_at > delete_time && old->updated_at <= store->latest;
}

enum catalog_change catalog_store_delete(struct catalog_store *store,
                                         const Banyandb__Property__V1__Property *property,
                                         int64_t delete_time)
{
    struct catalog_tags tags = catalog_tags_of(property);
    note(store, &tags, delete_time);
    if (tags.kind == SCHEMA_KINDS) {
        return CATALOG_UNCHANGED;
    }
    const struct catalog_object *old = held(store, &tags);
    bool live = old != NULL && old->message != NULL;
    if (old != NULL && tags.updated_at == 0) {
        tags.updated_at = old->updated_at; /* not told: of what is here */
    }
    if (old != NULL && (old->updated_at > tags.updated_at || is_before(store, delete_time, old))) {
        return CATALOG_UNCHANGED;
    }
    if (store->tombstones >= TOMBSTONES_MAX) {
        drop_tombstones(store);
        old = held(store, &tags);
    }
    replace(store, tags.kind, old, catalog_object_tombstone(property, &tags));
    return live ? CATALOG_CHANGED : CATALOG_UNCHANGED;
}

static void each_in(const struct catalog_shelf *shelf,
                    void (*each)(void *owner, const char *id, int64_t updated_at), void *owner)
{
    for (size_t i = 0; i < shelf->count; i++) {
        if (shelf->objects[i]->message != NULL) {
            each(owner, shelf->objects[i]->id, shelf->objects[i]->updated_at);
        }
    }
}

void catalog_store_each(const struct catalog_store *store,
                        void (*each)(void *owner, const char *id, int64_t updated_at), void *owner)
{
    for (size_t kind = 0; kind < SCHEMA_KINDS; kind++) {
        each_in(&store->shelves[kind], each, owner);
    }
}

static enum catalog_change forget_in(struct catalog_shelf *shelf, const char *id)
{
    for (size_t i = 0; i < shelf->count; i++) {
        if (shelf->objects[i]->message != NULL && strcmp(shelf->objects[i]->id, id) == 0) {
            catalog_shelf_remove(shelf, i);
            return CATALOG_CHANGED;
        }
    }
    return CATALOG_UNCHANGED;
}

enum catalog_change catalog_store_forget(struct catalog_store *store, const char *id)
{
    if (forget_in(&store->shelves[SCHEMA_GROUP], id) == CATALOG_CHANGED) {
        /* It was deleted at a time that nobody remembers. */
        raise_to(&store->placement_time, store->revision);
        return CATALOG_CHANGED;
    }
    for (size_t kind = SCHEMA_GROUP + 1; kind < SCHEMA_KINDS; kind++) {
        if (forget_in(&store->shelves[kind], id) == CATALOG_CHANGED) {
            return CATALOG_CHANGED;
        }
    }
    return CATALOG_UNCHANGED;
}

int64_t catalog_store_revision(const struct catalog_store *store)
{
    return store->revision;
}

const struct catalog_shelf *catalog_store_shelves(const struct catalog_store *store)
{
    return store->shelves;
}

int64_t catalog_store_placement_time(const struct catalog_store *store)
{
    return store->placement_time;
}
