// SPDX-License-Identifier: Apache-2.0
/* Revisions of schema objects that no compare needs to fetch: bad ones, which were logged, and
 * those that the catalog has no use for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct known_object {
    char *id; /* own */
    int64_t updated_at;
};

struct known_objects {
    size_t count;
    struct known_object *list; /* own */
};

/* Whether this revision, or a newer one, was noted. */
bool known_objects_has(const struct known_objects *known, const char *id, int64_t updated_at);
void known_objects_note(struct known_objects *known, const char *id, int64_t updated_at);
void known_objects_fini(struct known_objects *known);
