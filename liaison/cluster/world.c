// SPDX-License-Identifier: Apache-2.0
/* The count is the only thing of a world that ever changes, so it alone is atomic. */
#include "liaison/cluster/world.h"

#include "liaison/own.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* What world_new makes: the world that all see, and its count. */
struct counted_world {
    struct world world;
    atomic_size_t count;
};

static struct counted_world *counted(struct world *world)
{
    return (struct counted_world *)world; /* its first field */
}

struct world *world_new(struct catalog *catalog, struct member *members, size_t member_count,
                        int64_t changed_at)
{
    struct counted_world *made = own_array(1, sizeof *made);
    made->world = (struct world){.catalog = catalog,
                                 .member_count = member_count,
                                 .members = members,
                                 .changed_at = changed_at};
    atomic_init(&made->count, 1);
    if (member_count > 1) {
        qsort(members, member_count, sizeof *members, member_by_name);
    }
    return &made->world;
}

struct world *world_retain(struct world *world)
{
    atomic_fetch_add_explicit(&counted(world)->count, 1, memory_order_relaxed);
    return world;
}

void world_release(struct world **world)
{
    struct world *left = *world;
    *world = NULL;
    if (left == NULL ||
        atomic_fetch_sub_explicit(&counted(left)->count, 1, memory_order_acq_rel) > 1) {
        return;
    }
    for (size_t i = 0; i < left->member_count; i++) {
        member_fini(&left->members[i]);
    }
    free(left->members);
    catalog_release(&left->catalog);
    free(counted(left));
}

const struct member *world_member(const struct world *world, const char *name)
{
    for (size_t i = 0; i < world->member_count; i++) {
        if (strcmp(world->members[i].name, name) == 0) {
            return &world->members[i];
        }
    }
    return NULL;
}
