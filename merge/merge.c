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

#include "merge/feed.h"
#include "merge/lineup.h"
#include "merge/once.h"
#include "merge/pipeline.h"
#include "merge/window.h"

#include <assert.h>

#define NODE_GROUPS 65536 /* of a frame of partials, at most */
#define BIND_STEPS  64    /* what binding a source costs */

struct merge {
    const struct plan *plan; /* borrow: outlives the merge */
    struct plan scan;        /* the order in which rows are merged, and what else sources ask */
    struct arena *arena;     /* borrow: outlives the merge */
    struct arena frames;     /* what is made of frames; it goes with them, the groups stay */
    struct arena scratch;    /* what lives for one frame or row; empty in between */
    bool may_lack_groups;    /* a frame of partials is as long as a node can make it */
    struct feed feed;
    struct lineup lineup;

    bool expects;                /* FOLD: more frames come after those that have been fed */
    bool begun;                  /* no more can be fed */
    const struct layout *layout; /* borrow: region; NULL: no row has come yet */
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
    arena_init(&merge->frames, SIZE_MAX, arena->cache, arena->charge);
    arena_init(&merge->scratch, SIZE_MAX, arena->cache, arena->charge);
    pipeline_init(&merge->pipeline, plan, arena, &merge->scratch);
    merge->feed = (struct feed){
        .plan = plan,
        .scan = &merge->scan,
        .frame_versions = frame_versions,
        .groups = arena,
        .arena = &merge->frames,
        .scratch = &merge->scratch,
        .fold = &merge->pipeline.fold,
    };
    lineup_init(&merge->lineup, plan, &merge->scan, &merge->frames);
    return merge;
}

void merge_offer(struct merge *merge, size_t group, size_t rank, struct msg *msg,
                 struct slice frame)
{
    assert(!merge->begun || merge->plan->mode == PLAN_PARTIALS);
    assert(merge->feed.step == FEED_NONE);
    feed_begin(&merge->feed, group, rank, msg, frame);
}

enum progress merge_take(struct merge *merge, size_t *left, struct error *err)
{
    struct feed *feed = &merge->feed;
    enum progress progress = feed_some(feed, left, err);
    if (progress != PROGRESS_DONE) {
        return progress;
    }
    if (feed->rows >= NODE_GROUPS && merge->plan->mode == PLAN_PARTIALS) {
        merge->may_lack_groups = true;
    }
    if (feed->source != NULL) {
        lineup_add(&merge->lineup, feed->source);
        feed->source = NULL;
    }
    return PROGRESS_DONE;
}

// NOLINTNEXTLINE(readability-function-size): where it is from, what it is, why it is refused
bool merge_feed(struct merge *merge, size_t group, size_t rank, struct msg *msg, struct slice frame,
                struct error *err)
{
    size_t all = PROGRESS_ALL;
    merge_offer(merge, group, rank, msg, frame);
    return merge_take(merge, &all, err) == PROGRESS_DONE;
}

bool merge_may_lack_groups(const struct merge *merge)
{
    return merge->may_lack_groups;
}

bool merge_has_open_groups(const struct merge *merge)
{
    return merge->pipeline.fold.open > 0;
}

static const struct layout *choose_layout(struct merge *merge)
{
    if (merge->plan->layout != NULL) {
        return merge->plan->layout;
    }
    if (merge->pipeline.fold.in != NULL) {
        return merge->pipeline.fold.in; /* what the first frame of partials told */
    }
    if (merge->lineup.count == 0) {
        return arena_new(merge->arena, struct layout);
    }
    return source_layout(merge->lineup.sources[0], merge->plan, merge->arena);
}

/* The first rows tell the layout, and without any the end does. */
static bool begin_stages(struct merge *merge, struct sink *sink, struct error *err)
{
    if (merge->layout != NULL || (merge->lineup.count == 0 && merge->expects)) {
        return true;
    }
    merge->layout = choose_layout(merge);
    return pipeline_begin(&merge->pipeline, merge->layout, sink, err);
}

static bool begin(struct merge *merge, struct sink *sink, struct error *err)
{
    merge->begun = true;
    lineup_sort(&merge->lineup);
    if (!begin_stages(merge, sink, err)) {
        return false;
    }
    lineup_begin(&merge->lineup, merge->layout);
    return true;
}

/* Moves rows of the first key to the window, or looks for copies among those that are there: `most`
 * at most; how many. */
static size_t gather(struct merge *merge, size_t most)
{
    struct source *source = lineup_top(&merge->lineup);
    if (!window_is_settled(&merge->window)) {
        window_settle(&merge->window, &merge->frames, most);
        return most;
    }
    if (merge->window.count == 0) {
        merge->key = source->key;
    }
    size_t count = source_run(source, most);
    count = window_add(&merge->window, &merge->frames, source, count);
    if (lineup_advance(&merge->lineup, count)) {
        merge->drained = true;
    }
    source = lineup_top(&merge->lineup);
    merge->whole = source == NULL || key_compare(&source->key, &merge->key) != 0;
    return 1 + count;
}

/* Rows of it may wait in the stages. */
static void unpin(struct merge *merge, struct source *source)
{
    pipeline_settle(&merge->pipeline);
    source_unpin(source, merge->arena->charge);
}

static void release_drained(struct merge *merge)
{
    for (size_t i = 0; merge->drained && i < merge->lineup.count; i++) {
        if (source_is_drained(merge->lineup.sources[i])) {
            unpin(merge, merge->lineup.sources[i]);
        }
    }
    merge->drained = false;
}

/* Lone survivors hold no message: one source in a turn, between two windows. */
static void tidy(struct merge *merge)
{
    merge->tidied = true;
    lineup_find_lone(&merge->lineup);
}

static enum stage_state keep_lone(struct merge *merge, size_t most, size_t *work_out,
                                  struct error *err)
{
    struct source *source = merge->lineup.lone;
    size_t left = most;
    const enum progress progress = lineup_keep_lone(&merge->lineup, &left, err);
    *work_out = 1 + most - left;
    if (progress == PROGRESS_DONE) {
        unpin(merge, source);
    }
    return progress == PROGRESS_FAILED ? STAGE_FAILED : STAGE_MORE;
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
        return lineup_blame(&merge->lineup, from->source, err);
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
 * is on its way out, unless more rows are to come. *work_out: how many, about `most` at most. */
static enum stage_state step(struct merge *merge, size_t most, size_t *work_out, struct error *err)
{
    *work_out = 1;
    if (merge->whole) {
        const struct window_row row = *window_front(&merge->window);
        window_drop(&merge->window);
        if (!row.old && !give(merge, &row, err)) {
            return STAGE_FAILED;
        }
        leave(merge, row.source);
        if (merge->window.count == 0 && !merge->tidied) {
            tidy(merge);
        }
        return STAGE_MORE;
    }
    if (!lineup_is_bound(&merge->lineup)) {
        *work_out = BIND_STEPS;
        return lineup_bind_next(&merge->lineup, err) ? STAGE_MORE : STAGE_FAILED;
    }
    if (merge->lineup.lone != NULL) {
        return keep_lone(merge, most, work_out, err);
    }
    if (lineup_top(&merge->lineup) == NULL) {
        return merge->expects ? STAGE_DONE : pipeline_drain(&merge->pipeline, err);
    }
    *work_out = gather(merge, most);
    return STAGE_MORE;
}

void merge_forget(struct merge *merge)
{
    pipeline_settle(&merge->pipeline);
    feed_fini(&merge->feed);
    lineup_unpin(&merge->lineup);
    lineup_init(&merge->lineup, merge->plan, &merge->scan, &merge->frames);
    merge->window = (struct window){.count = 0};
    merge->begun = false;
    arena_rewind(&merge->frames, (struct arena_mark){NULL, NULL});
}

bool merge_has_rows(const struct merge *merge)
{
    return merge->lineup.count > 0;
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
    lineup_unpin(&merge->lineup);
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
    for (size_t left = rows, work; left > 0; progress_spend(&left, work)) {
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
        if (!feed_fits(&merge->feed, err)) {
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
    feed_fini(&(*merge)->feed);
    lineup_unpin(&(*merge)->lineup);
    arena_fini(&(*merge)->frames);
    arena_fini(&(*merge)->scratch);
    *merge = NULL;
}
