// SPDX-License-Identifier: Apache-2.0
/* A hash table without chains: the next free place will do, at least half of them are free. */
#include "liaison/cluster/known_objects.h"

#include "liaison/own.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64

static uint64_t hash_of(const char *id)
{
    const uint64_t hash = XXH3_64bits(id, strlen(id));
    return hash == 0 ? 1 : hash;
}

/* Where it is, or where it would be put. */
static struct known_object *place_of(const struct known_objects *known, uint64_t hash)
{
    size_t at = hash & (known->capacity - 1);
    while (known->places[at].id != 0 && known->places[at].id != hash) {
        at = (at + 1) & (known->capacity - 1);
    }
    return &known->places[at];
}

static void grow(struct known_objects *known)
{
    struct known_objects larger = {.count = known->count};
    larger.capacity = known->capacity == 0 ? FIRST_CAPACITY : 2 * known->capacity;
    larger.places = own_array(larger.capacity, sizeof *larger.places);
    for (size_t i = 0; i < known->capacity; i++) {
        if (known->places[i].id != 0) {
            *place_of(&larger, known->places[i].id) = known->places[i];
        }
    }
    known_objects_fini(known);
    *known = larger;
}

bool known_objects_has(const struct known_objects *known, const char *id, int64_t updated_at)
{
    if (known->capacity == 0) {
        return false;
    }
    const struct known_object *found = place_of(known, hash_of(id));
    return found->id != 0 && found->updated_at >= updated_at;
}

void known_objects_note(struct known_objects *known, const char *id, int64_t updated_at)
{
    if (known->count == KNOWN_OBJECTS_MAX) {
        memset(known->places, 0, known->capacity * sizeof *known->places);
        known->count = 0;
    }
    if (2 * (known->count + 1) > known->capacity) {
        grow(known);
    }
    const uint64_t hash = hash_of(id);
    struct known_object *place = place_of(known, hash);
    if (place->id == 0) {
        known->count++;
        *place = (struct known_object){.id = hash, .updated_at = updated_at};
    } else if (updated_at > place->updated_at) {
        place->updated_at = updated_at;
    }
}

void known_objects_fini(struct known_objects *known)
{
    free(known->places);
    *known = (struct known_objects){0};
}
