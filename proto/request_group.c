// SPDX-License-Identifier: Apache-2.0
/* Names are sorted to find the repeated ones: a request may have as many as fit into its bytes. */
#include "proto/request_group.h"

#include <stdlib.h>

struct name {
    struct slice text;
    size_t place; /* in the request */
};

static int by_text(const void *a, const void *b)
{
    const struct name *name_a = a;
    const struct name *name_b = b;
    int order = strcmp((const char *)name_a->text.ptr, (const char *)name_b->text.ptr);
    return order != 0 ? order : (name_a->place > name_b->place) - (name_a->place < name_b->place);
}

/* Marks each name that an earlier place of the request has, too. */
static void mark_repeated(struct name *names, size_t count, bool *repeated, struct arena *arena)
{
    struct name *sorted = arena_array(arena, struct name, count);
    memcpy(sorted, names, count * sizeof *names);
    qsort(sorted, count, sizeof *sorted, by_text);
    for (size_t i = 1; i < count; i++) {
        repeated[sorted[i].place] = slice_equal(sorted[i].text, sorted[i - 1].text);
    }
}

struct request_group *request_group_take(char **names, size_t count, struct arena *arena,
                                         size_t *count_out)
{
    struct name *found = arena_array(arena, struct name, count);
    bool *repeated = arena_array(arena, bool, count);
    for (size_t i = 0; i < count; i++) {
        found[i] = (struct name){.text = slice_str(names[i]), .place = i};
    }
    mark_repeated(found, count, repeated, arena);
    struct request_group *groups = arena_array(arena, struct request_group, count);
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++) {
        if (!repeated[i]) {
            groups[distinct++].name = found[i].text;
        }
    }
    *count_out = distinct;
    return groups;
}
