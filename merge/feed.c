// SPDX-License-Identifier: Apache-2.0
/* A function for each step, which says when it is done with it. */
#include "merge/feed.h"

#define FEW 8 /* one row in so many can be in the answer: worth a copy */

static struct arena *home(struct feed *feed)
{
    return feed->plan->mode == PLAN_PARTIALS ? feed->scratch : feed->arena;
}

void feed_begin(struct feed *feed, size_t group, size_t rank, struct msg *msg, struct slice frame)
{
    struct arena *arena = home(feed);
    const struct room room = arena_room(arena);
    feed->step = FEED_DECODE;
    feed->msg = msg_retain(msg);
    feed->group = group;
    feed->rank = rank;
    feed->source = arena_new(arena, struct source);
    feed->source->group = group;
    feed->source->rank = rank;
    feed->mark = arena_mark(arena);
    decode_begin(&feed->decode, frame, feed->frame_versions, &room, &feed->source->view);
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

bool feed_refuse(const struct feed *feed, struct error *err)
{
    return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "the merge needs more than the query's memory budget of %zu bytes (%zu are in "
                     "use); ask for a narrower time range, fewer tags, or set a limit",
                     feed->groups->budget, feed->groups->capacity + feed->arena->capacity);
}

/* Steps: each says whether it is done, and which one follows. */

static enum progress go_to(struct feed *feed, enum feed_step step)
{
    feed->step = step;
    return PROGRESS_DONE;
}

static enum progress begin_partials(struct feed *feed, struct error *err)
{
    const struct view *view = &feed->source->view;
    feed->partial = partial_begin(feed->fold, view, feed->group, feed->rank, err);
    return feed->partial == NULL ? PROGRESS_FAILED : go_to(feed, FEED_FOLD);
}

static enum progress decode(struct feed *feed, size_t *left, struct error *err)
{
    enum progress progress = decode_some(&feed->decode, left, err);
    if (progress != PROGRESS_DONE) {
        return progress;
    }
    feed->rows = feed->source->view.row_count;
    if (feed->rows == 0) {
        feed->source = NULL;
        return go_to(feed, FEED_NONE);
    }
    if (feed->plan->mode == PLAN_PARTIALS) {
        return begin_partials(feed, err);
    }
    return source_begin(feed->source, feed->scan, err) ? go_to(feed, FEED_ORDER) : PROGRESS_FAILED;
}

static enum progress fold(struct feed *feed, size_t *left, struct error *err)
{
    enum progress progress = partial_some(feed->partial, left, err);
    if (progress != PROGRESS_DONE) {
        return progress;
    }
    feed->source = NULL;
    return feed_fits(feed, err) ? go_to(feed, FEED_NONE) : PROGRESS_FAILED;
}

/* The frame's rows are merged where they lie. */
static enum progress keep_all(struct feed *feed)
{
    source_stand(feed->source);
    source_pin(feed->source, feed->msg, feed->arena->charge);
    return go_to(feed, FEED_NONE);
}

static enum progress order(struct feed *feed, size_t *left, struct error *err)
{
    const struct source *source = feed->source;
    enum progress progress = source_some(feed->source, feed->arena, left, err);
    if (progress != PROGRESS_DONE) {
        return progress;
    }
    if (!feed_fits(feed, err)) {
        return PROGRESS_FAILED;
    }
    const uint64_t wanted = rows_wanted(feed->plan);
    if (wanted >= source->view.row_count) {
        return keep_all(feed);
    }
    feed->needed =
        excerpt_count(&source->view, &source->order, wanted, source->view.row_count / FEW);
    return go_to(feed, FEED_COUNT);
}

/* The answer can have few of the frame's rows: they are copied, and what was made of the frame is
 * given up with it. */
static enum progress count(struct feed *feed, size_t *left)
{
    const struct source *source = feed->source;
    if (!excerpt_count_some(&feed->needed, left)) {
        return PROGRESS_MORE;
    }
    feed->few = (struct excerpt){&source->view, &source->order, 0, feed->needed.place};
    if (!excerpt_pays(&feed->few, FEW, msg_capacity(feed->msg))) {
        return keep_all(feed);
    }
    excerpt_begin(&feed->copy, &feed->few, feed->scratch);
    return go_to(feed, FEED_EXCERPT);
}

static enum progress excerpt(struct feed *feed, size_t *left)
{
    if (!excerpt_some(&feed->copy, feed->scratch, left)) {
        return PROGRESS_MORE;
    }
    feed->source->view = feed->copy.view;
    feed->source->order = (struct order){.count = feed->few.count};
    arena_rewind(feed->arena, feed->mark);
    excerpt_begin(&feed->copy, &feed->few, feed->arena);
    return go_to(feed, FEED_KEEP);
}

static enum progress keep(struct feed *feed, size_t *left, struct error *err)
{
    if (!excerpt_some(&feed->copy, feed->arena, left)) {
        return PROGRESS_MORE;
    }
    feed->source->view = feed->copy.view;
    return source_begin(feed->source, feed->scan, err) ? go_to(feed, FEED_REORDER)
                                                       : PROGRESS_FAILED;
}

static enum progress reorder(struct feed *feed, size_t *left, struct error *err)
{
    enum progress progress = source_some(feed->source, feed->arena, left, err);
    if (progress == PROGRESS_DONE) {
        source_stand(feed->source);
        return go_to(feed, FEED_NONE);
    }
    return progress;
}

static enum progress step(struct feed *feed, size_t *left, struct error *err)
{
    switch (feed->step) {
    case FEED_DECODE:
        return decode(feed, left, err);
    case FEED_FOLD:
        return fold(feed, left, err);
    case FEED_ORDER:
        return order(feed, left, err);
    case FEED_COUNT:
        return count(feed, left);
    case FEED_EXCERPT:
        return excerpt(feed, left);
    case FEED_KEEP:
        return keep(feed, left, err);
    case FEED_REORDER:
        return reorder(feed, left, err);
    case FEED_NONE:
        break;
    }
    return PROGRESS_DONE;
}

void feed_fini(struct feed *feed)
{
    feed->step = FEED_NONE;
    msg_release(&feed->msg);
    arena_rewind(feed->scratch, (struct arena_mark){0});
}

enum progress feed_some(struct feed *feed, size_t *left, struct error *err)
{
    enum progress progress = PROGRESS_DONE;
    while (progress == PROGRESS_DONE && feed->step != FEED_NONE) {
        progress = *left > 0 ? step(feed, left, err) : PROGRESS_MORE;
    }
    if (progress != PROGRESS_MORE) {
        feed_fini(feed);
    }
    return progress;
}
