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

static void collect(struct request_group *group, const resource_opts *opts,
                    const struct request_stages *wanted, struct arena *arena)
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

bool request_stage_group(struct request_group *group, const resource_opts *opts,
                         const struct request_stages *asked, struct arena *arena, struct error *err)
{
    struct request_stages wanted = *asked;
    if (wanted.count == 0) {
        wanted.names = opts->default_stages;
        wanted.count = opts->n_default_stages;
    }
    collect(group, opts, &wanted, arena);
    return group->selector_count > 0 || opts->n_stages == 0 ||
           request_text_fail(err, "no stage found in request or default stages in resource opts");
}

bool request_stage_found(const struct request_group *groups, size_t group_count,
                         const struct request_stages *asked, struct error *err)
{
    for (size_t i = 0; i < group_count; i++) {
        if (groups[i].selector_count > 0) {
            return true;
        }
    }
    return asked->count == 0 || request_text_fail(err, "no stage found");
}
