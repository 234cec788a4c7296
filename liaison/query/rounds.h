// SPDX-License-Identifier: Apache-2.0
/*
 * The rounds of a query, in the order in which their answers are taken in: the front, whose turn it
 * is, and others that are asked ahead, so that nodes are at work while the front is merged.
 *
 *     asked, taken in, merged ── front │ ahead │ ahead │ … asked; answers wait as they came
 *                                  └───────┴─ rounds_go_on: the front is merged
 *
 * Being ahead costs no answer. When the front, or what becomes of it, needs the room, those ahead
 * give way, the last one first: they are closed, and asked for in their turn as if they had not
 * been. What fails while others are asked, for whatever reason, is asked again in its turn, alone,
 * and only what comes then is told. After each that was asked in vain fewer may be ahead; in calm
 * times they become more again.
 */
#pragma once

#include "liaison/query/round.h"

#define ROUNDS_AHEAD 4

struct rounds {
    struct work *work;                   /* borrow: the query's region */
    struct round ring[1 + ROUNDS_AHEAD]; /* the front is the `first`, those ahead follow */
    size_t first;
    size_t asked; /* open ones, the front included */
    size_t most;  /* that may be ahead now */
    size_t calm;  /* fronts since one was asked in vain, or since there was one more */

    /* So far, for the operator. */
    size_t widest;  /* the most that were ahead at a time */
    size_t in_vain; /* asked ahead, and had to be asked again */
};

/* What they have in common. */
struct rounds_setup {
    struct executor *executor; /* borrow: outlives them */
    struct job *job;           /* borrow: the query's; told what the answer lacks */
    struct work *work;         /* borrow: the query's region */
    /* All have answered to the front, or `failed` says what went wrong: the answer ends with that.
     * Comes from the loop, at most once for each front. */
    void (*on_end)(void *owner, const struct error *failed);
    void *owner; /* borrow: outlives them */
};

void rounds_init(struct rounds *rounds, const struct rounds_setup *setup);
/* Chooses the nodes, for all rounds. False: nobody can be asked, or too few. */
bool rounds_prepare(struct rounds *rounds, struct error *err) MUST_CHECK;
/* Asks the first. */
void rounds_ask(struct rounds *rounds);
/* The front is merged, and the work has more to ask: the next one's turn. */
void rounds_go_on(struct rounds *rounds);

/* The last of those ahead gives way. False: none is ahead. */
bool rounds_give_way(struct rounds *rounds);
/* Likewise, if it is behind this one. */
bool rounds_give_way_to(struct rounds *rounds, const struct round *round);
/* The front is to be asked again, in another way or because it failed: all of those ahead give way.
 */
void rounds_begin_again(struct rounds *rounds);
/* What follows the front, as it was asked ahead; NULL: nothing is, or it has failed, and all of
 * those ahead have given way. */
const struct slices *rounds_next_slice(struct rounds *rounds);
/* What was asked last. */
const struct slices *rounds_last_slice(const struct rounds *rounds);
size_t rounds_ahead(const struct rounds *rounds);
/* What all of them hold, and those ahead. */
size_t rounds_hold(const struct rounds *rounds);
size_t rounds_hold_ahead(const struct rounds *rounds);

/* Closes all of them: nothing comes any more. */
void rounds_close(struct rounds *rounds);
