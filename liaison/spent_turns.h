// SPDX-License-Identifier: Apache-2.0
/* A loop that gives back what its thread's account has spent (frame/spent.h), a little each turn.
 */
#pragma once

#include "frame/spent.h"
#include "liaison/loop.h"

/* Embedded by its owner. */
struct spent_turns {
    struct spent spent;
    struct loop *loop; /* borrow */
    struct loop_task turn;
};

/* From now on large blocks of the account, which has no parent, are given back by turns. */
void spent_turns_begin(struct spent_turns *turns, struct charge *charge, struct loop *loop);
/* After the loop is freed, which has given back all: what comes now is freed at once. */
void spent_turns_end(struct spent_turns *turns);
