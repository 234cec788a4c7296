// SPDX-License-Identifier: Apache-2.0
/*
 * Frames and answers as text, for tests of whole merges.
 *
 * A frame: its columns, then its rows, parted by '|'; columns and cells are parted by blanks.
 *
 *     "shard tag:default.svc:str field:v:int | 0 a 10 | 0 b -"
 *
 *     column   time, version, series, shard, tag:<family>.<name>:<type>, field:<name>:<type>;
 *              type: int float str bytes tv fv (TagValue, FieldValue messages); '!' behind it: a
 *              constant, whose cell is taken from the first row
 *     cell     - is a null bit, "" the empty text; in messages null is the Null variant, "void" an
 *              empty message, 5 an Int, 5.0 a Float, [a,b] a StrArray, x:ab binary, else a Str
 *
 * An answer: its rows, parted by "; ", the cells of all columns that are not hidden, parted by
 * blanks: null 5 5.0 (floats as short as they can be told) text x:ab [2 bytes]. Rows of a scan
 * begin with "time/series/version:". A failure is its text in "!…".
 */
#pragma once

#include "frame/msg.h"
#include "merge/plan.h"

struct charge;
struct error;
struct merge;

/* Count 1. Misuse asserts. */
struct msg *frames_make(const char *text, unsigned version, struct charge *charge);

struct frames_feed {
    size_t group;
    size_t rank;
    const char *text; /* of a frame */
};

/* Feeds the frames in their order, runs the merge `step` rows at a time, and writes the answer
 * into a buffer that the caller frees. At the end nothing is alive; after each feed of a plan of
 * partials no message is held. */
char *frames_answer(const struct plan *plan, const struct frames_feed *feeds, size_t count,
                    size_t step);

/* The same for messages that are there already, given up here. */
struct frames_msg {
    size_t group;
    size_t rank;
    struct msg *msg;
    size_t part; /* FOLD: fed when all of the parts before it are folded */
};
char *frames_merge(const struct plan *plan, const struct frames_msg *msgs, size_t count,
                   size_t step);

/* Gives the merge a frame, which it takes in by shares of so many steps. The message stays the
 * caller's. */
bool frames_take(struct merge *merge, size_t group, size_t rank, struct msg *msg, size_t share,
                 struct error *err);
