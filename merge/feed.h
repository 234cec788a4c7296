// SPDX-License-Identifier: Apache-2.0
/*
 * One node's frame on its way into the merge, in shares.
 *
 *     frame ─▶ view ─┬─ partials ─▶ folded, batch by batch
 *                    └─ rows ─▶ put in order ─┬─ source that pins the message
 *                                             └─ few of them can be needed: source of copies
 *
 * One frame at a time; until it is in, nothing else is allocated in the region.
 */
#pragma once

#include "frame/msg.h"
#include "merge/excerpt.h"
#include "merge/partial.h"
#include "merge/source.h"

enum feed_step {
    FEED_NONE,    /* no frame is on its way */
    FEED_DECODE,  /* frame → view */
    FEED_FOLD,    /* partials: its rows */
    FEED_ORDER,   /* rows: their order */
    FEED_COUNT,   /* how many of them the answer can have */
    FEED_EXCERPT, /* these, if they are few → scratch region */
    FEED_KEEP,    /* and from there → region, which has lost all that was made of the frame */
    FEED_REORDER, /* the order of these */
};

struct feed {
    const struct plan *plan; /* borrow: outlives it */
    const struct plan *scan; /* borrow: likewise; the order in which rows are merged */
    unsigned frame_versions;
    struct arena *groups;  /* borrow: outlives it; its budget is that of both */
    struct arena *arena;   /* borrow: likewise; what is made of frames */
    struct arena *scratch; /* borrow: likewise; empty when no frame is on its way */
    struct fold *fold;     /* borrow: likewise; PARTIALS */

    enum feed_step step;
    struct msg *msg; /* pin */
    size_t group;
    size_t rank;
    struct source *source;   /* borrow: region; its view is the frame's */
    struct partial *partial; /* borrow: scratch region */
    struct decode decode;
    size_t rows;            /* of the frame, when it is in */
    struct arena_mark mark; /* where the region ended before anything was made of the frame */
    struct excerpt_count needed;
    struct excerpt few;
    struct excerpt_copy copy;
};

/* The fields above `step` are set. */
/* Nothing is looked at yet. */
void feed_begin(struct feed *feed, size_t group, size_t rank, struct msg *msg, struct slice frame);
/* DONE: feed->source has the rows, in order, and a pin if they lie in the message; without rows,
 * and when partials are in, it is NULL. After FAILED and DONE no frame is on its way. */
enum progress feed_some(struct feed *feed, size_t *left, struct error *err) MUST_CHECK;
/* Gives up what is on its way. */
void feed_fini(struct feed *feed);

/* False: the regions are over their budget; the text tells the figures. */
bool feed_refuse(const struct feed *feed, struct error *err);
static inline bool feed_fits(const struct feed *feed, struct error *err)
{
    return feed->groups->capacity + feed->arena->capacity <= feed->groups->budget ||
           feed_refuse(feed, err);
}
