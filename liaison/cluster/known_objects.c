// SPDX-License-Identifier: Apache-2.0
/* Few and rarely asked: a plain list. */
#include "liaison/cluster/known_objects.h"

#include "liaison/own.h"

#include <stdlib.h>
#include <string.h>

static struct known_object *find(const struct known_objects *known, const char *id)
{
    for (size_t i = 0; i < known->count; i++) {
        if (strcmp(known->list[i].id, id) == 0) {
            return &known->list[i];
        }
    }
    return NULL;
}

bool known_objects_has(const struct known_objects *known, const char *id, int64_t updated_at)
{
    const struct known_object *found = find(known, id);
    return found != NULL && found->updated_at >= updated_at;
}

void known_objects_note(struct known_objects *known, const char *id, int64_t updated_at)
{
    struct known_object *found = find(known, id);
    if (found != NULL) {
        found->updated_at = updated_at > found->updated_at ? updated_at : found->updated_at;
        return;
    }
    known->list = own_grow(known->list, known->count + 1, sizeof *known->list);
    known->list[known->count++] =
        (struct known_object){.id = own_text(id), .updated_at = updated_at};
}

void known_objects_fini(struct known_objects *known)
{
    for (size_t i = 0; i < known->count; i++) {
        free(known->list[i].id);
    }
    free(known->list);
    *known = (struct known_objects){0};
}
