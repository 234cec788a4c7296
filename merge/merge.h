// SPDX-License-Identifier: Apache-2.0
/*
 * The merge floor's front door: answers of nodes in, rows of the answer out.
 *
 *     merge_open(plan) ─▶ merge_offer(group, node, msg, frame) ─▶ merge_take … ─┬─▶ merge_run …
 *                          ▲ ▲          another node's frame                      │     │
 *                          │ └────────────────────────────────────────────────────┘     │
 *                          └──────────────── FED: rows in parts ────────────────────────┤
 *                                                              merge_close ◀─── DONE ───┘
 *
 * Sources are ordered by request group, then by node name, whatever the order of arrival, so the
 * answer is a function of the data. Who pins, who keeps: the row merge pins; each source holds its
 * message until its last row is taken, and nothing is copied but what the sink writes. Groups and
 * tops keep; what outlives its frame is copied into the region, so they are bounded by groups or
 * by N. The plan tells which it is (merge/plan.h): partials are folded when they are taken in, and
 * their messages may go then.
 */
#pragma once

#include "frame/msg.h"
#include "merge/arena.h"
#include "merge/plan.h"
#include "merge/row.h"

struct merge;

/* Lives in the region; `plan` is borrowed, outlives it and stays as it is. */
struct merge *merge_open(const struct plan *plan, unsigned frame_versions, struct arena *arena);

/* Gives one node's frame, one at a time; nothing of it is looked at yet. `rank` is the node's place
 * by name; a source of a lower (group, rank) comes first among equals. The message is retained as
 * long as rows of it are needed; that of partials until they are folded. */
void merge_offer(struct merge *merge, size_t group, size_t rank, struct msg *msg,
                 struct slice frame);
/* Takes it in: checks it, puts its rows in order, folds its partials. FAILED: a bad frame, or the
 * region's budget is used up; the text names what is wrong (the caller prefixes the node's name).
 */
enum progress merge_take(struct merge *merge, size_t *left, struct error *err) MUST_CHECK;
/* Both, for callers that have no turns to share. */
bool merge_feed(struct merge *merge, size_t group, size_t rank, struct msg *msg, struct slice frame,
                struct error *err) MUST_CHECK;

/* PARTIALS: may some node have more groups than it has sent? Nodes of 0.11 number them in 16 bits,
 * and leave out what is beyond. */
bool merge_may_lack_groups(const struct merge *merge);
/* PARTIALS: is there a MIN or MAX that only rows would tell? A node's of nothing looks like data.
 */
bool merge_has_open_groups(const struct merge *merge);

enum merge_state {
    MERGE_MORE,   /* the caller's loop may turn */
    MERGE_FED,    /* all rows fed so far are folded, and more frames are expected */
    MERGE_DONE,   /* all rows have been given */
    MERGE_FAILED, /* err says why */
};

/* FOLD: whether frames of other rows come when those that were fed are folded. Then merge_run ends
 * with FED, nothing of the frames is held any more, and merge_offer goes on. All versions of a
 * record have to come in frames that are fed together. */
void merge_expect(struct merge *merge, bool more);
/* Whether there are rows in what was fed since. */
bool merge_has_rows(const struct merge *merge);
/* FOLD: gives up the frames that were fed since the last FED, before the first merge_run. */
void merge_forget(struct merge *merge);

/* After the last frame: moves up to `rows` rows, on their way to each other or to the sink, then
 * returns MORE so that the caller's loop can turn. The sink is the same in all calls. DONE and
 * FAILED are final: all pins are gone. */
enum merge_state merge_run(struct merge *merge, struct sink *sink, size_t rows, struct error *err);

/* How many rows have come how far. */
struct merge_counts {
    uint64_t merged; /* rows that the merge gave, each record once; or groups with their totals */
    uint64_t ranked; /* of those, what a top looked at */
    uint64_t cut;    /* what offset and limit were applied to, until there were enough */
};
struct merge_counts merge_count(const struct merge *merge);

/* Gives back all that it holds. */
void merge_close(struct merge **merge);
