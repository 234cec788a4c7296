// SPDX-License-Identifier: Apache-2.0
/*
 * Work that takes long, done by shares: whoever has some queues a task, is given a few milliseconds
 * of a turn of the loop, and queues it again when they are over. One share in a turn, in the order
 * of the queue, so that small queries go on beside huge ones.
 */
#pragma once

#include "liaison/loop.h"

/* Embedded by its executor. */
struct shares {
    struct loop *loop;              /* borrow */
    struct loop_task turn;          /* deferred while `ready` has some */
    STAILQ_HEAD(, loop_task) ready; /* in the order of their turns */
    uint64_t began;                 /* loop_now's clock: the share that runs */
};

void shares_init(struct shares *shares, struct loop *loop);
/* A no-op while it is queued. */
void shares_queue(struct shares *shares, struct loop_task *task);
void shares_unqueue(struct shares *shares, struct loop_task *task);
/* Looks at the clock. */
bool shares_is_over(struct shares *shares);
