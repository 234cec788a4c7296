// SPDX-License-Identifier: Apache-2.0
/* Objects of one kind, sorted by group and name; each pair once. */
#pragma once

#include "proto/catalog_object.h"

struct catalog_shelf {
    struct catalog_object **objects; /* own, one count each */
    size_t count;
    size_t capacity;
};

/* Where the object is, or where it would stand; true = it is there. */
bool catalog_shelf_find(const struct catalog_shelf *shelf, struct slice group, struct slice name,
                        size_t *place_out);
/* Takes the object; it replaces the one of the same name. */
void catalog_shelf_put(struct catalog_shelf *shelf, struct catalog_object *object);
void catalog_shelf_remove(struct catalog_shelf *shelf, size_t place);
/* Objects with a message, each retained once more. */
struct catalog_shelf catalog_shelf_live(const struct catalog_shelf *shelf);
void catalog_shelf_fini(struct catalog_shelf *shelf);
