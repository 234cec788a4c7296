// SPDX-License-Identifier: Apache-2.0
#include "proto/catalog_shelf.h"

#include "proto/alloc.h"

#include <stdlib.h>

static int compare(struct slice a, struct slice b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len == 0 ? 0 : memcmp(a.ptr, b.ptr, len);
    if (order != 0) {
        return order;
    }
    return a.len < b.len ? -1 : a.len > b.len;
}

bool catalog_shelf_find(const struct catalog_shelf *shelf, struct slice group, struct slice name,
                        size_t *place_out)
{
    size_t low = 0;
    size_t high = shelf->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct catalog_object *object = shelf->objects[middle];
        int order = compare(object->group, group);
        if (order == 0) {
            order = compare(object->name, name);
        }
        if (order == 0) {
            *place_out = middle;
            return true;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *place_out = low;
    return false;
}

static void grow(struct catalog_shelf *shelf)
{
    size_t capacity = shelf->capacity == 0 ? 16 : 2 * shelf->capacity;
    struct catalog_object **objects =
        alloc_zeroed(NULL, capacity * sizeof(struct catalog_object *));
    if (shelf->count > 0) {
        memcpy(objects, shelf->objects, shelf->count * sizeof(struct catalog_object *));
    }
    free(shelf->objects);
    shelf->objects = objects;
    shelf->capacity = capacity;
}

void catalog_shelf_put(struct catalog_shelf *shelf, struct catalog_object *object)
{
    size_t place;
    if (catalog_shelf_find(shelf, object->group, object->name, &place)) {
        catalog_object_release(&shelf->objects[place]);
        shelf->objects[place] = object;
        return;
    }
    if (shelf->count == shelf->capacity) {
        grow(shelf);
    }
    memmove(shelf->objects + place + 1, shelf->objects + place,
            (shelf->count - place) * sizeof(struct catalog_object *));
    shelf->objects[place] = object;
    shelf->count++;
}

void catalog_shelf_remove(struct catalog_shelf *shelf, size_t place)
{
    catalog_object_release(&shelf->objects[place]);
    shelf->count--;
    memmove(shelf->objects + place, shelf->objects + place + 1,
            (shelf->count - place) * sizeof(struct catalog_object *));
}

struct catalog_shelf catalog_shelf_live(const struct catalog_shelf *shelf)
{
    struct catalog_shelf live = {.capacity = shelf->count};
    if (shelf->count == 0) {
        return live;
    }
    live.objects = alloc_zeroed(NULL, shelf->count * sizeof(struct catalog_object *));
    for (size_t i = 0; i < shelf->count; i++) {
        if (shelf->objects[i]->message != NULL) {
            live.objects[live.count++] = catalog_object_retain(shelf->objects[i]);
        }
    }
    return live;
}

void catalog_shelf_fini(struct catalog_shelf *shelf)
{
    for (size_t i = 0; i < shelf->count; i++) {
        catalog_object_release(&shelf->objects[i]);
    }
    free(shelf->objects);
    *shelf = (struct catalog_shelf){.count = 0};
}
