// SPDX-License-Identifier: Apache-2.0
#include "merge/lineup.h"

#include <stdlib.h>

#define LONE 64 /* one row in so many is left: worth a copy */

void lineup_init(struct lineup *lineup, const struct plan *plan, const struct plan *scan,
                 struct arena *arena)
{
    *lineup = (struct lineup){.plan = plan, .scan = scan, .arena = arena};
}

void lineup_add(struct lineup *lineup, struct source *source)
{
    if (lineup->count == lineup->capacity) {
        size_t capacity = lineup->capacity == 0 ? 16 : 2 * lineup->capacity;
        struct source **sources = arena_array(lineup->arena, struct source *, capacity);
        if (lineup->count > 0) {
            memcpy(sources, lineup->sources, lineup->count * sizeof(struct source *));
        }
        lineup->sources = sources;
        lineup->capacity = capacity;
    }
    lineup->sources[lineup->count++] = source;
}

static int by_group_and_rank(const void *a, const void *b)
{
    const struct source *source_a = *(struct source *const *)a;
    const struct source *source_b = *(struct source *const *)b;
    if (source_a->group != source_b->group) {
        return source_a->group < source_b->group ? -1 : 1;
    }
    return (source_a->rank > source_b->rank) - (source_a->rank < source_b->rank);
}

static bool first_by_key(const void *owner, const void *a, const void *b)
{
    const struct lineup *lineup = owner;
    const struct source *source_a = a;
    const struct source *source_b = b;
    int order = key_compare(&source_a->key, &source_b->key);
    if (order != 0) {
        return lineup->scan->descending ? order > 0 : order < 0;
    }
    return by_group_and_rank(&source_a, &source_b) < 0;
}

bool lineup_blame(const struct lineup *lineup, const struct source *source, struct error *err)
{
    return error_prefix(err, "merge %srows: frame %zu",
                        lineup->plan->group_count > 1 ? "multi-group " : "", source->rank);
}

static bool bind(struct lineup *lineup, struct source *source, struct error *err)
{
    bool bound = lineup->plan->layout == NULL
                     ? source_bind_same(source, lineup->layout, lineup->arena, err)
                     : source_bind_named(source, lineup->layout, lineup->arena, err);
    return bound || lineup_blame(lineup, source, err);
}

void lineup_sort(struct lineup *lineup)
{
    if (lineup->count > 0) {
        qsort(lineup->sources, lineup->count, sizeof(struct source *), by_group_and_rank);
    }
}

void lineup_begin(struct lineup *lineup, const struct layout *layout)
{
    lineup->layout = layout;
    lineup->heap = (struct heap){.less = first_by_key, .owner = lineup};
    lineup->heap.items = arena_array(lineup->arena, void *, lineup->count);
}

bool lineup_bind_next(struct lineup *lineup, struct error *err)
{
    struct source *source = lineup->sources[lineup->bound];
    if (!bind(lineup, source, err)) {
        return false;
    }
    lineup->bound++;
    heap_push(&lineup->heap, source);
    return true;
}

static struct excerpt rest_of(const struct source *source)
{
    return (struct excerpt){&source->view, &source->order, source->next,
                            source->view.row_count - source->next};
}

static bool is_lone(const struct source *source)
{
    const struct excerpt rest = rest_of(source);
    return source->msg != NULL && excerpt_pays(&rest, LONE, msg_capacity(source->msg));
}

void lineup_find_lone(struct lineup *lineup)
{
    for (size_t i = 0; lineup->lone == NULL && i < lineup->count; i++) {
        if (is_lone(lineup->sources[i])) {
            lineup->lone = lineup->sources[i];
            lineup->rest = rest_of(lineup->lone);
            lineup->copied = false;
            excerpt_begin(&lineup->copy, &lineup->rest, lineup->arena);
        }
    }
}

static bool end_copy(struct lineup *lineup, struct error *err)
{
    lineup->copied = true;
    lineup->lone->view = lineup->copy.view;
    lineup->lone->next = 0;
    return source_begin(lineup->lone, lineup->scan, err);
}

/* What is bound to the message is bound to the copies. */
static bool end_lone(struct lineup *lineup, struct error *err)
{
    struct source *source = lineup->lone;
    lineup->lone = NULL;
    source_stand(source);
    return bind(lineup, source, err);
}

enum progress lineup_keep_lone(struct lineup *lineup, size_t *left, struct error *err)
{
    if (!lineup->copied) {
        if (!excerpt_some(&lineup->copy, lineup->arena, left)) {
            return PROGRESS_MORE;
        }
        if (!end_copy(lineup, err)) {
            return PROGRESS_FAILED;
        }
    }
    const enum progress progress = source_some(lineup->lone, lineup->arena, left, err);
    if (progress != PROGRESS_DONE) {
        return progress;
    }
    return end_lone(lineup, err) ? PROGRESS_DONE : PROGRESS_FAILED;
}

void lineup_unpin(struct lineup *lineup)
{
    for (size_t i = 0; i < lineup->count; i++) {
        source_unpin(lineup->sources[i], lineup->arena->charge);
    }
}
