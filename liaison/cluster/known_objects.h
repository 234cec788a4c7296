// SPDX-License-Identifier: Apache-2.0
/* Revisions of schema objects that no compare needs to fetch: bad ones, which were logged, and
 * those that the catalog has no use for. What a server may tell is not bounded, what is kept here
 * is: ids are kept as hashes, and when there are too many all are forgotten, so that each is
 * fetched, and a bad one told, once more. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KNOWN_OBJECTS_MAX 65536

struct known_object {
    uint64_t id; /* its hash; 0 = a free place */
    int64_t updated_at;
};

struct known_objects {
    size_t count;
    size_t capacity;             /* a power of two, more than count, or 0 */
    struct known_object *places; /* own */
};

/* Whether this revision, or a newer one, was noted. */
bool known_objects_has(const struct known_objects *known, const char *id, int64_t updated_at);
void known_objects_note(struct known_objects *known, const char *id, int64_t updated_at);
void known_objects_fini(struct known_objects *known);
