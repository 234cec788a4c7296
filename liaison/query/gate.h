// SPDX-License-Identifier: Apache-2.0
/*
 * What a query waits for before it is planned: that the nodes have been connected for the first
 * time, and the schema revisions that the client has seen. Each time it looks, it looks at the
 * world as it is then.
 */
#pragma once

#include "liaison/query/executor.h"
#include "liaison/query/work.h"

struct gate {
    struct executor *executor; /* borrow: outlives it */
    uint64_t until;            /* loop_now's clock: until when it may wait for a revision */
    uint64_t pause;            /* ns, grows */
    struct loop_timer retry;   /* runs the owner's look when it is time to look again */
};

void gate_init(struct gate *gate, struct executor *executor, uint64_t may_wait,
               void (*look)(struct loop_timer *retry));
void gate_fini(struct gate *gate);

/* Looks: WAIT has started the timer; ANSWERED and GO_ON are the work's. */
enum request_step gate_pass(struct gate *gate, struct work *work);
/* It is not to look again. */
void gate_close(struct gate *gate);
