// SPDX-License-Identifier: Apache-2.0
#include "proto/request_stage.h"

#include "proto/request_text.h"

#include <string.h>

typedef Banyandb__Common__V1__ResourceOpts resource_opts;

static bool is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct slice trim(const char *text)
{
    struct slice slice = slice_str(text);
    while (slice.len > 0 && is_blank(slice.ptr[0])) {
        slice.ptr++;
        slice.len--;
    }
    while (slice.len > 0 && is_blank(slice.ptr[slice.len - 1])) {
        slice.len--;
    }
    return slice;
}

/* The first stage of this name that has a selector, or NULL. */
static const Banyandb__Common__V1__LifecycleStage *find_stage(const resource_opts *opts,
                                                              const char *name)
{
    for (size_t i = 0; i < opts->n_stages; i++) {
        if (strcasecmp(opts->stages[i]->name, name) == 0 &&
            trim(opts->stages[i]->node_selector).len > 0) {
            return opts->stages[i];
        }
    }
    return NULL;
}

/* Names of stages, and the selector that the name "hot" stands for besides. */
struct wanted {
    char **names;
    size_t count;
    const char *hot_selector;
};

static void collect(struct request_group *group, const resource_opts *opts,
                    const struct wanted *wanted, struct arena *arena)
{
    struct slice *selectors = arena_array(arena, struct slice, 2 * wanted->count);
    uint32_t *replicas = arena_array(arena, uint32_t, 2 * wanted->count + 1);
    size_t found = 0;
    replicas[0] = opts->replicas;
    for (size_t i = 0; i < wanted->count; i++) {
        const Banyandb__Common__V1__LifecycleStage *stage = find_stage(opts, wanted->names[i]);
        if (stage != NULL) {
            replicas[found] = stage->replicas;
            selectors[found++] = trim(stage->node_selector);
        }
        if (wanted->hot_selector[0] != '\0' && strcasecmp(wanted->names[i], "hot") == 0) {
            replicas[found] = opts->replicas;
            selectors[found++] = slice_str(wanted->hot_selector);
        }
    }
    group->selectors = selectors;
    group->replicas = replicas;
    group->selector_count = found;
}

static void select_nodes(const struct request *request, struct request_group *group,
                         const resource_opts *opts, const char *hot_selector, struct arena *arena)
{
    const Banyandb__Measure__V1__QueryRequest *message = request->message;
    struct wanted wanted = {message->stages, message->n_stages, hot_selector};
    if (wanted.count == 0) {
        wanted.names = opts->default_stages;
        wanted.count = opts->n_default_stages;
    }
    collect(group, opts, &wanted, arena);
}

bool request_stage(struct request *request, const struct catalog *catalog, const char *hot_selector,
                   struct arena *arena, struct error *err)
{
    bool any = false;
    for (size_t i = 0; i < request->group_count; i++) {
        struct request_group *group = &request->groups[i];
        const resource_opts *opts = catalog_group(catalog, group->name)->resource_opts;
        select_nodes(request, group, opts, hot_selector, arena);
        if (group->selector_count == 0 && opts->n_stages > 0) {
            return request_text_fail(
                err, "no stage found in request or default stages in resource opts");
        }
        any = any || group->selector_count > 0;
    }
    return any || request->message->n_stages == 0 || request_text_fail(err, "no stage found");
}
