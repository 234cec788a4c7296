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

#include "merge/excerpt.h"
#include "merge/heap.h"
#include "merge/once.h"
#include "merge/partial.h"
#include "merge/pipeline.h"
#include "merge/window.h"

#include <assert.h>
#include <stdlib.h>

/* One row in so many is worth a copy: of what the answer can have, and of what is left. */
#define FEW         8
#define LONE        64
#define NODE_GROUPS 65536 /* of a frame of partials, at most */

struct merge {
    const struct plan *plan; /* borrow: outlives the merge */
    struct plan scan;        /* the order in which rows are merged, and what else sources ask */
    struct arena *arena;     /* borrow: outlives the merge */
    struct arena *frames;    /* borrow: where what is made of frames lies; `arena`, or `own` */
    struct arena own;        /* FOLD: it goes with the frames, the groups stay */
    struct arena scratch;    /* what lives for one frame or row; empty in between */
    unsigned frame_versions;

    size_t source_count;
    size_t source_capacity;
    struct source **sources; /* borrow: region; after begin in (group, rank) order */
    bool may_lack_groups;    /* a frame of partials is as long as a node can make it */

    bool expects;                /* FOLD: more frames come after those that have been fed */
    bool begun;                  /* no more can be fed */
    const struct layout *layout; /* borrow; NULL: no row has come yet */
    struct heap heap;
    struct window window;
    struct key key;   /* borrow: a source in the window; of the window's rows */
    bool whole;       /* the window holds all rows of its key */
    bool drained;     /* the last row of some source is in the window */
    bool tidied;      /* in this turn: what is held for few rows */
    struct once once; /* index mode: the series that have been returned */
    enum merge_state state;
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
    merge->frames = plan->mode == PLAN_FOLD ? &merge->own : arena;
    merge->frame_versions = frame_versions;
    arena_init(&merge->own, SIZE_MAX, arena->cache, arena->charge);
    arena_init(&merge->scratch, SIZE_MAX, arena->cache, arena->charge);
    pipeline_init(&merge->pipeline, plan, arena, &merge->scratch);
    return merge;
}

static void add_source(struct merge *merge, struct source *source)
{
    if (merge->source_count == merge->source_capacity) {
        size_t capacity = merge->source_capacity == 0 ? 16 : 2 * merge->source_capacity;
        struct source **sources = arena_array(merge->frames, struct source *, capacity);
        if (merge->source_count > 0) {
            memcpy(sources, merge->sources, merge->source_count * sizeof(struct source *));
        }
        merge->sources = sources;
        merge->source_capacity = capacity;
    }
    merge->sources[merge->source_count++] = source;
}

static size_t used(const struct merge *merge)
{
    return merge->arena->capacity + merge->own.capacity;
}

static bool is_over(const struct merge *merge)
{
    return used(merge) > merge->arena->budget;
}

static bool over_budget(const struct merge *merge, struct error *err)
{
    return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "the merge needs more than the query's memory budget of %zu bytes (%zu are in "
                     "use); ask for a narrower time range, fewer tags, or set a limit",
                     merge->arena->budget, used(merge));
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
    if (!folded) {
        return false;
    }
    merge->may_lack_groups = merge->may_lack_groups || view.row_count >= NODE_GROUPS;
    return !is_over(merge) || over_budget(merge, err);
}

bool merge_may_lack_groups(const struct merge *merge)
{
    return merge->may_lack_groups;
}

/* How many rows of the answer's order can be needed; UINT64_MAX: all of them. */
static uint64_t rows_wanted(const struct plan *plan)
{
    const bool streams = plan->mode == PLAN_ROWS && plan->top.number <= 0 && plan->key_count == 0;
    if (!streams || plan->index_mode || plan->limit > UINT64_MAX - plan->offset) {
        return UINT64_MAX;
    }
    return plan->offset + plan->limit;
}

/* The answer can have few of the frame's rows: they are copied, and what was made of the frame is
 * given up with it. True in *kept_out: the message is not needed any more. */
/* NOLINTNEXTLINE(readability-function-size): it goes back to the mark that its caller set */
static bool keep_few(struct merge *merge, struct source *source, struct arena_mark mark,
                     const struct msg *msg, bool *kept_out, struct error *err)
{
    const uint64_t wanted = rows_wanted(merge->plan);
    struct excerpt few = {&source->view, &source->order, 0, 0};
    *kept_out = false;
    if (wanted >= source->view.row_count) {
        return true;
    }
    few.count = excerpt_needed(few.view, few.order, wanted);
    if (!excerpt_pays(&few, FEW, msg_capacity(msg))) {
        return true;
    }
    *kept_out = true;
    const struct arena_mark empty = arena_mark(&merge->scratch);
    source->view = excerpt_copy(&few, &merge->scratch);
    source->order = (struct order){.count = few.count};
    arena_rewind(merge->frames, mark);
    const bool kept = source_excerpt(source, few.count, &merge->scan, merge->frames, err);
    arena_rewind(&merge->scratch, empty);
    return kept;
}

// NOLINTNEXTLINE(readability-function-size): where it is from, what it is, why it is refused
bool merge_feed(struct merge *merge, size_t group, size_t rank, struct msg *msg, struct slice frame,
                struct error *err)
{
    if (merge->plan->mode == PLAN_PARTIALS) {
        return feed_partials(merge, group, rank, frame, err);
    }
    assert(!merge->begun);
    struct room room = arena_room(merge->frames);
    struct source *source = arena_new(merge->frames, struct source);
    source->group = group;
    source->rank = rank;
    const struct arena_mark mark = arena_mark(merge->frames);
    if (!decode_view(frame, merge->frame_versions, &room, &source->view, err)) {
        return false;
    }
    if (source->view.row_count == 0) {
        return true;
    }
    if (!source_open(source, &merge->scan, merge->frames, err)) {
        return false;
    }
    if (is_over(merge)) {
        return over_budget(merge, err);
    }
    bool kept;
    if (!keep_few(merge, source, mark, msg, &kept, err)) {
        return false;
    }
    if (!kept) {
        source_pin(source, msg, merge->frames->charge);
    }
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

static bool frame_error(const struct merge *merge, const struct source *source, struct error *err)
{
    return error_prefix(err, "merge %srows: frame %zu",
                        merge->plan->group_count > 1 ? "multi-group " : "", source->rank);
}

static bool bind_source(struct merge *merge, struct source *source, struct error *err)
{
    bool bound = merge->plan->layout == NULL
                     ? source_bind_same(source, merge->layout, merge->frames, err)
                     : source_bind_named(source, merge->layout, merge->frames, err);
    return bound || frame_error(merge, source, err);
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

/* The first rows tell the layout, and without any the end does. */
static bool begin_stages(struct merge *merge, struct sink *sink, struct error *err)
{
    if (merge->layout != NULL || (merge->source_count == 0 && merge->expects)) {
        return true;
    }
    merge->layout = choose_layout(merge);
    return pipeline_begin(&merge->pipeline, merge->layout, sink, err);
}

static bool begin(struct merge *merge, struct sink *sink, struct error *err)
{
    merge->begun = true;
    if (merge->source_count > 0) {
        qsort(merge->sources, merge->source_count, sizeof(struct source *), by_group_and_rank);
    }
    if (!begin_stages(merge, sink, err)) {
        return false;
    }
    merge->heap = (struct heap){.less = first_by_key, .owner = merge};
    merge->heap.items = arena_array(merge->frames, void *, merge->source_count);
    for (size_t i = 0; i < merge->source_count; i++) {
        if (!bind_source(merge, merge->sources[i], err)) {
            return false;
        }
        heap_push(&merge->heap, merge->sources[i]);
    }
    return true;
}

/* Moves rows of the first key to the window, `most` at most; how many. */
static size_t gather(struct merge *merge, size_t most)
{
    struct source *source = heap_top(&merge->heap);
    if (merge->window.count == 0) {
        merge->key = source->key;
    }
    size_t count = source_run(source, most);
    window_add(&merge->window, merge->frames, source, count);
    source_advance(source, count);
    if (source_is_drained(source)) {
        heap_pop(&merge->heap);
        merge->drained = true;
    } else {
        heap_sift_top(&merge->heap);
    }
    source = heap_top(&merge->heap);
    merge->whole = source == NULL || key_compare(&source->key, &merge->key) != 0;
    return count;
}

/* Rows of it may wait in the stages. */
static void unpin(struct merge *merge, struct source *source)
{
    pipeline_settle(&merge->pipeline);
    source_unpin(source, merge->arena->charge);
}

static void release_drained(struct merge *merge)
{
    for (size_t i = 0; merge->drained && i < merge->source_count; i++) {
        if (source_is_drained(merge->sources[i])) {
            unpin(merge, merge->sources[i]);
        }
    }
    merge->drained = false;
}

/* Lone survivors hold no message: once in a turn, between two windows. */
static bool tidy(struct merge *merge, struct error *err)
{
    merge->tidied = true;
    for (size_t i = 0; i < merge->source_count; i++) {
        struct source *source = merge->sources[i];
        const struct excerpt rest = {&source->view, &source->order, source->next,
                                     source->view.row_count - source->next};
        if (source->msg == NULL || !excerpt_pays(&rest, LONE, msg_capacity(source->msg))) {
            continue;
        }
        if (!source_excerpt(source, rest.count, &merge->scan, merge->frames, err) ||
            !bind_source(merge, source, err)) {
            return false;
        }
        unpin(merge, source);
    }
    return true;
}

/* A row of this source was given. If it was the last that the window had, the message may go; and
 * at the window's end those of which no row has lived. */
static void leave(struct merge *merge, struct source *source)
{
    const struct window_row *next = window_front(&merge->window);
    if (next != NULL && next->source == source) {
        return;
    }
    if (source_is_drained(source)) {
        unpin(merge, source);
    }
    if (next == NULL) {
        window_clear(&merge->window);
        merge->whole = false;
        release_drained(merge);
    }
}

/* Index mode: the first row of a series stands for all of them. */
static bool is_repeated_series(struct merge *merge, const struct window_row *row)
{
    return merge->plan->index_mode && !once_put(&merge->once, merge->arena, row->source->group,
                                                column_bits(row->source->series, row->row));
}

static bool give(struct merge *merge, const struct window_row *from, struct error *err)
{
    if (is_repeated_series(merge, from) || pipeline_skip(&merge->pipeline)) {
        return true;
    }
    if (!source_read(from->source, from->row, err)) {
        return frame_error(merge, from->source, err);
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

/* A row enters the stages, or rows enter the window; when all have, a row that the stages hold back
 * is on its way out, unless more rows are to come. *work_out: how many, at most `most`. */
static enum stage_state step(struct merge *merge, size_t most, size_t *work_out, struct error *err)
{
    *work_out = 1;
    if (merge->whole) {
        const struct window_row row = *window_front(&merge->window);
        window_drop(&merge->window);
        if (!give(merge, &row, err)) {
            return STAGE_FAILED;
        }
        leave(merge, row.source);
        const bool between = merge->window.count == 0 && !merge->tidied;
        return !between || tidy(merge, err) ? STAGE_MORE : STAGE_FAILED;
    }
    if (heap_top(&merge->heap) == NULL) {
        return merge->expects ? STAGE_DONE : pipeline_drain(&merge->pipeline, err);
    }
    *work_out = gather(merge, most);
    return STAGE_MORE;
}

static void unpin_all(struct merge *merge)
{
    for (size_t i = 0; i < merge->source_count; i++) {
        source_unpin(merge->sources[i], merge->arena->charge);
    }
}

void merge_forget(struct merge *merge)
{
    pipeline_settle(&merge->pipeline);
    unpin_all(merge);
    merge->source_count = 0;
    merge->source_capacity = 0;
    merge->window = (struct window){.capacity = 0};
    merge->begun = false;
    arena_rewind(&merge->own, (struct arena_mark){NULL, NULL});
}

bool merge_has_rows(const struct merge *merge)
{
    return merge->source_count > 0;
}

void merge_expect(struct merge *merge, bool more)
{
    assert(!more || merge->plan->mode == PLAN_FOLD);
    merge->expects = more;
}

/* All rows are in the stages. */
static enum merge_state end_feed(struct merge *merge)
{
    merge_forget(merge);
    return MERGE_FED;
}

/* Nothing is read any more. */
static enum merge_state finish(struct merge *merge, enum merge_state state)
{
    unpin_all(merge);
    merge->state = state;
    return state;
}

enum merge_state merge_run(struct merge *merge, struct sink *sink, size_t rows, struct error *err)
{
    if (merge->state != MERGE_MORE) {
        return merge->state;
    }
    if (!merge->begun && !begin(merge, sink, err)) {
        return finish(merge, MERGE_FAILED);
    }
    merge->tidied = false;
    for (size_t left = rows, work; left > 0; left -= work) {
        if (pipeline_is_full(&merge->pipeline)) {
            return finish(merge, MERGE_DONE);
        }
        switch (step(merge, left, &work, err)) {
        case STAGE_MORE:
            break;
        case STAGE_DONE:
            return merge->expects ? end_feed(merge) : finish(merge, MERGE_DONE);
        case STAGE_FAILED:
            return finish(merge, MERGE_FAILED);
        }
        if (is_over(merge)) {
            over_budget(merge, err);
            return finish(merge, MERGE_FAILED);
        }
    }
    return MERGE_MORE;
}

struct merge_counts merge_count(const struct merge *merge)
{
    return pipeline_count(&merge->pipeline, merge->plan);
}

void merge_close(struct merge **merge)
{
    if (*merge == NULL) {
        return;
    }
    unpin_all(*merge);
    arena_fini(&(*merge)->own);
    arena_fini(&(*merge)->scratch);
    *merge = NULL;
}
