// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/gate.h"

#define FIRST_PAUSE 10000000
#define LAST_PAUSE  1000000000

void gate_init(struct gate *gate, struct executor *executor, uint64_t may_wait,
               void (*look)(struct loop_timer *retry))
{
    struct loop *loop = executor_loop(executor);
    *gate = (struct gate){.executor = executor, .until = loop_now(loop) + may_wait};
    loop_timer_init(&gate->retry, loop, look);
}

/* A little longer each time, 10 ms at first and a second at most. */
static enum request_step wait(struct gate *gate)
{
    const uint64_t pause = gate->pause == 0 ? FIRST_PAUSE : gate->pause * 3 / 2;
    gate->pause = pause < LAST_PAUSE ? pause : LAST_PAUSE;
    loop_timer_start(&gate->retry, gate->pause / 1000000);
    return REQUEST_WAIT;
}

enum request_step gate_pass(struct gate *gate, struct work *work)
{
    if (!executor_is_settled(gate->executor)) {
        return wait(gate);
    }
    if (work->ops->gate == NULL) {
        return REQUEST_GO_ON;
    }
    const bool may_wait = loop_now(executor_loop(gate->executor)) < gate->until;
    const enum request_step step = work->ops->gate(work, may_wait);
    return step == REQUEST_WAIT ? wait(gate) : step;
}

void gate_close(struct gate *gate)
{
    loop_timer_stop(&gate->retry);
}

void gate_fini(struct gate *gate)
{
    loop_timer_fini(&gate->retry);
}
