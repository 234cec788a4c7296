// SPDX-License-Identifier: Apache-2.0
/*
 * The k-way row merge (see merge.h for its place).
 *
 *   sources in (group, node) order ─▶ heap by key ─▶ window of one key ─▶ stages ─▶ sink
 *
 * The heap holds the sources that have rows left, first key on top; among equal keys the first
 * source. All rows of the top's key are moved to the window, source by source, so a heap step
 * moves a run of rows, not one.
 *
 * Rows that are folded are merged by time whatever the order asked for, so that all versions of a
 * record meet in one window and the record counts once. Partials take no part in this: they are
 * folded as they arrive, and only the stages are left to run.
 */
#include "merge/merge.h"

#include "merge/heap.h"
#include "merge/partial.h"
#include "merge/pipeline.h"
#include "merge/window.h"

#include <stdlib.h>

struct merge {
    const struct plan *plan; /* borrow: outlives the merge */
    struct plan scan;        /* the order in which rows are merged, and what else sources ask */
    struct arena *arena;     /* borrow: outlives the merge */
    struct arena scratch;    /* what lives for one frame or row; empty in between */
    unsigned frame_versions;

    size_t source_count;
    size_t source_capacity;
    struct source **sources; /* borrow: region; after begin in (group, rank) order */

    bool begun;
    const struct layout *layout; /* borrow */
    struct heap heap;
    struct window window;
    struct seen series; /* index mode: the series that have been returned */
    bool scanned;       /* all rows are in the stages */
    struct pipeline pipeline;
};

static struct plan scan_of(const struct plan *plan)
{
    struct plan scan = *plan;
    if (plan->mode == PLAN_FOLD) {
        scan.order = PLAN_BY_TIME;
        scan.descending = plan->descending || plan->index_mode; /* a series' newest row counts */
    }
    return scan;
}

struct merge *merge_open(const struct plan *plan, unsigned frame_versions, struct arena *arena)
{
    struct merge *merge = arena_new(arena, struct merge);
    merge->plan = plan;
    merge->scan = scan_of(plan);
    merge->arena = arena;
    merge->frame_versions = frame_versions;
    arena_init(&merge->scratch, SIZE_MAX, arena->cache, arena->charge);
    pipeline_init(&merge->pipeline, plan, arena, &merge->scratch);
    return merge;
}

static void add_source(struct merge *merge, struct source *source)
{
    if (merge->source_count == merge->source_capacity) {
        size_t capacity = merge->source_capacity == 0 ? 16 : 2 * merge->source_capacity;
        struct source **sources = arena_array(merge->arena, struct source *, capacity);
        if (merge->source_count > 0) {
            memcpy(sources, merge->sources, merge->source_count * sizeof(struct source *));
        }
        merge->sources = sources;
        merge->source_capacity = capacity;
    }
    merge->sources[merge->source_count++] = source;
}

static bool over_budget(const struct merge *merge, struct error *err)
{
    return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "the merge needs more than the query's memory budget of %zu bytes (%zu are in "
                     "use); ask for a narrower time range, fewer tags, or set a limit",
                     merge->arena->budget, merge->arena->capacity);
}

static bool feed_partials(struct merge *merge, size_t group, size_t rank, struct slice frame,
                          struct error *err)
{
    const struct arena_mark mark = arena_mark(&merge->scratch);
    const struct room room = arena_room(&merge->scratch);
    struct view view;
    bool folded =
        decode_view(frame, merge->frame_versions, &room, &view, err) &&
        (view.row_count == 0 || partial_fold(&merge->pipeline.fold, &view, group, rank, err));
    arena_rewind(&merge->scratch, mark);
    return folded && (!arena_over(merge->arena) || over_budget(merge, err));
}

bool merge_feed(struct merge *merge, size_t group, size_t rank, struct msg *msg, struct slice frame,
                struct error *err)
{
    if (merge->plan->mode == PLAN_PARTIALS) {
        return feed_partials(merge, group, rank, frame, err);
    }
    struct room room = arena_room(merge->arena);
    struct source *source = arena_new(merge->arena, struct source);
    source->group = group;
    source->rank = rank;
    if (!decode_view(frame, merge->frame_versions, &room, &source->view, err)) {
        return false;
    }
    if (source->view.row_count == 0) {
        return true;
    }
    if (!source_open(source, &merge->scan, err)) {
        return false;
    }
    source_pin(source, msg, merge->arena->charge);
    add_source(merge, source);
    return true;
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
    const struct merge *merge = owner;
    const struct source *source_a = a;
    const struct source *source_b = b;
    int order = key_compare(&source_a->key, &source_b->key);
    if (order != 0) {
        return merge->scan.descending ? order > 0 : order < 0;
    }
    return by_group_and_rank(&source_a, &source_b) < 0;
}

static bool bind_source(struct merge *merge, struct source *source, struct error *err)
{
    bool bound = merge->plan->layout == NULL
                     ? source_bind_same(source, merge->layout, merge->arena, err)
                     : source_bind_named(source, merge->layout, merge->arena, err);
    return (bound && source_sort(source, &merge->scan, merge->arena, err)) ||
           error_prefix(err, "frame %zu", source->rank);
}

static const struct layout *choose_layout(struct merge *merge)
{
    if (merge->plan->layout != NULL) {
        return merge->plan->layout;
    }
    if (merge->pipeline.fold.in != NULL) {
        return merge->pipeline.fold.in; /* what the first frame of partials told */
    }
    if (merge->source_count == 0) {
        return arena_new(merge->arena, struct layout);
    }
    return source_layout(merge->sources[0], merge->plan, merge->arena);
}

static bool begin(struct merge *merge, struct sink *sink, struct error *err)
{
    merge->begun = true;
    if (merge->source_count > 0) {
        qsort(merge->sources, merge->source_count, sizeof *merge->sources, by_group_and_rank);
    }
    merge->layout = choose_layout(merge);
    merge->heap = (struct heap){.less = first_by_key, .owner = merge};
    merge->heap.items = arena_array(merge->arena, void *, merge->source_count);
    for (size_t i = 0; i < merge->source_count; i++) {
        if (!bind_source(merge, merge->sources[i], err)) {
            return false;
        }
        heap_push(&merge->heap, merge->sources[i]);
    }
    return pipeline_begin(&merge->pipeline, merge->layout, sink, err);
}

/* Moves the run of rows that have the key to the window. */
static void gather_run(struct merge *merge, struct source *source, const struct key *key)
{
    do {
        window_add(&merge->window, merge->arena, source, source_row(source));
    } while (source_advance(source) && key_compare(&source->key, key) == 0);
}

/* The rows of the next key; false when no rows are left. */
static bool gather(struct merge *merge)
{
    struct source *source = heap_top(&merge->heap);
    if (source == NULL) {
        return false;
    }
    const struct key key = source->key;
    window_clear(&merge->window);
    while (source != NULL && key_compare(&source->key, &key) == 0) {
        gather_run(merge, source, &key);
        if (source_is_drained(source)) {
            heap_pop(&merge->heap);
        } else {
            heap_sift_top(&merge->heap);
        }
        source = heap_top(&merge->heap);
    }
    return true;
}

/* A message is given back when its last row has left the window. */
static void release_drained(struct merge *merge)
{
    for (size_t i = 0; i < merge->source_count; i++) {
        if (source_is_drained(merge->sources[i])) {
            source_unpin(merge->sources[i], merge->arena->charge);
        }
    }
}

/* Index mode: the first row of a series stands for all of them. */
static bool is_repeated_series(struct merge *merge, const struct window_row *row)
{
    if (!merge->plan->index_mode) {
        return false;
    }
    size_t count = merge->series.count;
    seen_put(&merge->series, merge->arena, (uint32_t)row->source->group,
             column_bits(row->source->series, row->row), 0, 0);
    return merge->series.count == count;
}

static bool give(struct merge *merge, const struct window_row *from, struct error *err)
{
    if (is_repeated_series(merge, from) || pipeline_skip(&merge->pipeline)) {
        return true;
    }
    if (!source_read(from->source, from->row, err)) {
        return false;
    }
    struct row row = {
        .group = from->source->group,
        .has_time = true,
        .timestamp = column_int(from->source->time, from->row),
        .version = column_int(from->source->version, from->row),
        .series = column_bits(from->source->series, from->row),
        .cells = from->source->cells,
    };
    return pipeline_row(&merge->pipeline, &row, err);
}

/* The next row to give, NULL at the end. */
static const struct window_row *next_row(struct merge *merge)
{
    const struct window_row *row;
    while ((row = window_next(&merge->window)) == NULL) {
        release_drained(merge);
        if (!gather(merge)) {
            return NULL;
        }
    }
    return row;
}

/* A row enters the stages; when all have, one that they hold back is on its way out. */
static enum stage_state step(struct merge *merge, struct error *err)
{
    const struct window_row *row = merge->scanned ? NULL : next_row(merge);
    if (row == NULL) {
        merge->scanned = true;
        return pipeline_drain(&merge->pipeline, err);
    }
    return give(merge, row, err) ? STAGE_MORE : STAGE_FAILED;
}

enum merge_state merge_run(struct merge *merge, struct sink *sink, size_t rows, struct error *err)
{
    if (!merge->begun && !begin(merge, sink, err)) {
        return MERGE_FAILED;
    }
    for (size_t i = 0; i < rows; i++) {
        if (pipeline_is_full(&merge->pipeline)) {
            return MERGE_DONE;
        }
        switch (step(merge, err)) {
        case STAGE_MORE:
            break;
        case STAGE_DONE:
            return MERGE_DONE;
        case STAGE_FAILED:
            return MERGE_FAILED;
        }
        if (arena_over(merge->arena)) {
            over_budget(merge, err);
            return MERGE_FAILED;
        }
    }
    return MERGE_MORE;
}

void merge_close(struct merge **merge)
{
    if (*merge == NULL) {
        return;
    }
    for (size_t i = 0; i < (*merge)->source_count; i++) {
        source_unpin((*merge)->sources[i], (*merge)->arena->charge);
    }
    arena_fini(&(*merge)->scratch);
    *merge = NULL;
}
