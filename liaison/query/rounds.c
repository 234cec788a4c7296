// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/rounds.h"

/* After so many fronts without one that was asked in vain, one more may be ahead: so no more than
 * one question in so many is wasted, but for the first few. */
#define CALM 8

/* In the ring: 0 is the front's, those ahead follow. */
static size_t slot(const struct rounds *rounds, size_t i)
{
    return (rounds->first + i) % (1 + ROUNDS_AHEAD);
}

static struct round *place(struct rounds *rounds, size_t i)
{
    return &rounds->ring[slot(rounds, i)];
}

void rounds_init(struct rounds *rounds, const struct rounds_setup *setup)
{
    rounds->work = setup->work;
    rounds->most = ROUNDS_AHEAD;
    for (size_t i = 0; i <= ROUNDS_AHEAD; i++) {
        rounds->ring[i] = (struct round){
            .executor = setup->executor,
            .job = setup->job,
            .work = setup->work,
            .on_end = setup->on_end,
            .owner = setup->owner,
        };
        round_init(&rounds->ring[i]);
    }
}

bool rounds_prepare(struct rounds *rounds, struct error *err)
{
    struct work *work = rounds->work;
    struct job *job = place(rounds, 0)->job;
    work->broadcast = (struct broadcast){
        .executor = work->executor,
        .world = work->world,
        .groups = work->groups,
        .group_count = work->group_count,
        .begin = work->begin,
        .refusal = work->ops->refusal,
        .arena = work->arena,
        .client_deadline = job->deadline,
    };
    bool prepared = broadcast_prepare(&work->broadcast, err);
    job->incomplete = work->broadcast.incomplete;
    return prepared;
}

/* While the work wants more. */
static void ask_ahead(struct rounds *rounds)
{
    struct work *work = rounds->work;
    while (work->ops->ahead != NULL && rounds_ahead(rounds) < rounds->most) {
        struct round *next = place(rounds, rounds->asked);
        const size_t calls = work->ops->ahead(work, next);
        if (calls == 0) {
            return;
        }
        rounds->asked++;
        place(rounds, 0)->tentative = true;
        round_ask_ahead(next, calls);
        if (rounds_ahead(rounds) > rounds->widest) {
            rounds->widest = rounds_ahead(rounds);
        }
    }
}

void rounds_ask(struct rounds *rounds)
{
    rounds->asked = 1;
    round_ask(place(rounds, 0));
}

static void grow_calm(struct rounds *rounds)
{
    rounds->calm++;
    if (rounds->calm >= CALM && rounds->most < ROUNDS_AHEAD) {
        rounds->most++;
        rounds->calm = 0;
    }
}

void rounds_go_on(struct rounds *rounds)
{
    struct round *merged = place(rounds, 0);
    round_close(merged);
    grow_calm(rounds);
    if (rounds_ahead(rounds) == 0) {
        round_ask(merged);
    } else {
        rounds->first = slot(rounds, 1);
        rounds->asked--;
        round_take_turn(place(rounds, 0));
    }
    if (place(rounds, 0)->open) { /* else the query has ended already */
        ask_ahead(rounds);
    }
}

bool rounds_give_way(struct rounds *rounds)
{
    if (rounds_ahead(rounds) == 0) {
        return false;
    }
    rounds->asked--;
    round_close(place(rounds, rounds->asked));
    rounds->most = rounds_ahead(rounds);
    rounds->calm = 0;
    rounds->in_vain++;
    return true;
}

bool rounds_give_way_to(struct rounds *rounds, const struct round *round)
{
    return place(rounds, rounds->asked - 1) != round && rounds_give_way(rounds);
}

/* What made one fail may make others. */
static void give_up_ahead(struct rounds *rounds)
{
    const size_t most = rounds->most;
    while (rounds_give_way(rounds)) {
    }
    rounds->most = most / 2;
}

void rounds_begin_again(struct rounds *rounds)
{
    const struct round *front = place(rounds, 0);
    if (front->tentative) {
        give_up_ahead(rounds);
        rounds->in_vain += front->was_ahead;
    }
}

const struct slices *rounds_next_slice(struct rounds *rounds)
{
    if (rounds_ahead(rounds) > 0 && round_has_failed(place(rounds, 1))) {
        give_up_ahead(rounds);
    }
    return rounds_ahead(rounds) > 0 ? &place(rounds, 1)->slice : NULL;
}

const struct slices *rounds_last_slice(const struct rounds *rounds)
{
    return &rounds->ring[slot(rounds, rounds_ahead(rounds))].slice;
}

size_t rounds_ahead(const struct rounds *rounds)
{
    return rounds->asked > 0 ? rounds->asked - 1 : 0;
}

static size_t hold_from(const struct rounds *rounds, size_t from)
{
    size_t total = 0;
    for (size_t i = from; i < rounds->asked; i++) {
        total += rounds->ring[slot(rounds, i)].charge.total;
    }
    return total;
}

size_t rounds_hold(const struct rounds *rounds)
{
    return hold_from(rounds, 0);
}

size_t rounds_hold_ahead(const struct rounds *rounds)
{
    return hold_from(rounds, 1);
}

void rounds_close(struct rounds *rounds)
{
    while (rounds->asked > 0) {
        rounds->asked--;
        round_close(place(rounds, rounds->asked));
    }
}
