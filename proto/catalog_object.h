// SPDX-License-Identifier: Apache-2.0
/*
 * One schema object: what a property says about itself, and the message made of its source. Shared
 * by the store and by all snapshots that contain it. An object without a message is a tombstone.
 */
#pragma once

#include "proto/catalog_tags.h"

#include <stdatomic.h>

struct catalog_object {
    atomic_size_t count;
    int64_t updated_at;
    ProtobufCMessage *message; /* own; NULL = a tombstone */
    struct slice group;        /* own: in the same allocation, like id and name */
    struct slice name;
    const char *id;
    size_t bytes; /* of the heap: itself and its message */
};

/* Parses and checks the source; NULL: err names the property and what is wrong. Count 1. */
struct catalog_object *catalog_object_parse(const Banyandb__Property__V1__Property *property,
                                            const struct catalog_tags *tags, struct error *err);
struct catalog_object *catalog_object_tombstone(const Banyandb__Property__V1__Property *property,
                                                const struct catalog_tags *tags);
struct catalog_object *catalog_object_retain(struct catalog_object *object);
void catalog_object_release(struct catalog_object **object);
