// SPDX-License-Identifier: Apache-2.0
/*
 * The catalog: the schemas and groups known at one moment, as one immutable snapshot.
 *
 * The registry (liaison/cluster) feeds objects into a catalog_store as list and watch deliver
 * them; the store parses each once and makes snapshots. A snapshot is never changed; it is counted
 * atomically, because queries of all threads hold the one they began with. An object is parsed
 * once and shared by all snapshots that contain it.
 *
 *   property.v1.Property ─ tags kind, group, name, source (proto3 JSON), updated_at ─▶ object
 */
#pragma once

#include "frame/error.h"
#include "frame/slice.h"
#include "proto/common.pb-c.h"
#include "proto/database.pb-c.h"
#include "proto/property.pb-c.h"

enum schema_kind {
    SCHEMA_GROUP,
    SCHEMA_MEASURE,
    SCHEMA_INDEX_RULE,
    SCHEMA_INDEX_RULE_BINDING,
    SCHEMA_TOPN,
    SCHEMA_KINDS,
};

/* One thread writes it. */
struct catalog_store;
struct catalog;

struct catalog_store *catalog_store_new(void);
void catalog_store_free(struct catalog_store **store);

enum catalog_change {
    CATALOG_UNCHANGED, /* older than what is there, or a kind that a measure liaison ignores */
    CATALOG_CHANGED,
    CATALOG_BAD, /* err says what is wrong with the object; what was there stays */
};

/* A live object (list, replay or event): taken over when its updated_at is greater than what is
 * there, live or deleted: the order in which events come does not matter. The JSON is checked
 * (size, nesting, types); an object that upstream would not accept (catalog_valid.h) is BAD.
 * The property is borrowed. */
enum catalog_change catalog_store_put(struct catalog_store *store,
                                      const Banyandb__Property__V1__Property *property,
                                      struct error *err);
/* A deletion, at delete_time (ns), of the revision that the property's updated_at names (of what is
 * here if that tag is missing; kind, group and name are needed). An object that is newer than
 * either of the two stays: after a repair, servers hold tombstones of older revisions dated later
 * than the live one. Remembered, so that a server that missed it does not bring the object back. */
enum catalog_change catalog_store_delete(struct catalog_store *store,
                                         const Banyandb__Property__V1__Property *property,
                                         int64_t delete_time);
/* Until the next call nothing can have happened after this moment, ns. An object that is dated
 * later counts as any other, as for all who read it; but it does not raise the revision, or nothing
 * newer would be asked for, and a change of placement is taken for one of this moment. */
void catalog_store_clock(struct catalog_store *store, int64_t latest);
/* For the periodic full compare: calls `each` for every live id with its updated_at. */
void catalog_store_each(const struct catalog_store *store,
                        void (*each)(void *owner, const char *id, int64_t updated_at), void *owner);
/* Drops an id that no server knows any more: deleted at a time that nobody remembers. For a group
 * the caller has to count that moment as a change of placement. */
enum catalog_change catalog_store_forget(struct catalog_store *store, const char *id);
/* Greatest updated_at or delete_time seen, but for later ones than the clock: the watch asks for
 * what is newer. */
int64_t catalog_store_revision(const struct catalog_store *store);

/* The objects as they are now; count 1. */
struct catalog *catalog_snapshot(const struct catalog_store *store);
/* What the objects of this snapshot and its own lists hold, once however many snapshots share them.
 */
size_t catalog_bytes(const struct catalog *catalog);
struct catalog *catalog_retain(struct catalog *catalog);
void catalog_release(struct catalog **catalog);

/* Look-ups; NULL = not known. The results live as long as the snapshot. A group that is not of the
 * measure catalog is not found, nor is anything below a group that is not there.
 * metadata->mod_revision is the property's. */
const Banyandb__Common__V1__Group *catalog_group(const struct catalog *catalog, struct slice group);
const Banyandb__Database__V1__Measure *catalog_measure(const struct catalog *catalog,
                                                       struct slice group, struct slice name);
const Banyandb__Database__V1__TopNAggregation *catalog_topn(const struct catalog *catalog,
                                                            struct slice group, struct slice name);
/* The rule of this name bound to the measure, or NULL; a binding counts whatever its begin_at and
 * expire_at are. */
const Banyandb__Database__V1__IndexRule *catalog_bound_rule(const struct catalog *catalog,
                                                            struct slice group,
                                                            struct slice measure,
                                                            struct slice rule);
/* Whether a rule bound to the measure is about the tag. */
bool catalog_tag_has_rule(const struct catalog *catalog, struct slice group, struct slice measure,
                          struct slice tag);
/* Everything of one kind, sorted by group and name; groups of all catalogs, too. */
size_t catalog_count(const struct catalog *catalog, enum schema_kind kind);
const ProtobufCMessage *catalog_at(const struct catalog *catalog, enum schema_kind kind, size_t i);
/* Newest change of any group's placement, ns: created_at, updated_at, deletions. Shards are dealt
 * anew then, so a row may have copies from before. */
int64_t catalog_placement_time(const struct catalog *catalog);
