// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/shares.h"

#include "liaison/container_of.h"

#include <stddef.h>

#define SHARE_NS 4000000

static void on_turn(struct loop_task *task)
{
    struct shares *shares = container_of(task, struct shares, turn);
    struct loop_task *first = STAILQ_FIRST(&shares->ready);
    if (first == NULL) {
        return; /* it was taken back since */
    }
    STAILQ_REMOVE_HEAD(&shares->ready, next);
    first->queued = false;
    if (!STAILQ_EMPTY(&shares->ready)) {
        loop_defer(shares->loop, task);
    }
    loop_clock_refresh(shares->loop);
    shares->began = loop_now(shares->loop);
    first->run(first);
}

void shares_init(struct shares *shares, struct loop *loop)
{
    shares->loop = loop;
    shares->turn.run = on_turn;
    STAILQ_INIT(&shares->ready);
}

void shares_queue(struct shares *shares, struct loop_task *task)
{
    if (task->queued) {
        return;
    }
    task->queued = true;
    STAILQ_INSERT_TAIL(&shares->ready, task, next);
    loop_defer(shares->loop, &shares->turn);
}

/* NOLINTNEXTLINE(readability-function-*): the nesting is the list macro's */
void shares_unqueue(struct shares *shares, struct loop_task *task)
{
    if (task->queued) {
        task->queued = false;
        STAILQ_REMOVE(&shares->ready, task, loop_task, next);
    }
}

bool shares_is_over(struct shares *shares)
{
    loop_clock_refresh(shares->loop);
    return loop_now(shares->loop) - shares->began >= SHARE_NS;
}
