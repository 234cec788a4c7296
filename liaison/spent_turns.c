// SPDX-License-Identifier: Apache-2.0
#include "liaison/spent_turns.h"

#include "liaison/container_of.h"

#include <assert.h>

#define PIECES_A_TURN 16 /* a millisecond or two */

static void on_turn(struct loop_task *task)
{
    struct spent_turns *turns = container_of(task, struct spent_turns, turn);
    bool more = true;
    for (size_t i = 0; more && i < PIECES_A_TURN; i++) {
        more = spent_give_back(&turns->spent);
    }
    if (more) {
        loop_defer(turns->loop, task);
    }
}

static void on_some(struct spent *spent)
{
    struct spent_turns *turns = (struct spent_turns *)spent;
    loop_defer(turns->loop, &turns->turn);
}

void spent_turns_begin(struct spent_turns *turns, struct charge *charge, struct loop *loop)
{
    assert(charge->parent == NULL);
    *turns = (struct spent_turns){
        .spent = {.charge = charge, .on_some = on_some}, .loop = loop, .turn.run = on_turn};
    charge->spent = &turns->spent;
}

void spent_turns_end(struct spent_turns *turns)
{
    assert(turns->spent.first == NULL);
    turns->spent.charge->spent = NULL;
}
