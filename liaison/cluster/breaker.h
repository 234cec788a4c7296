// SPDX-License-Identifier: Apache-2.0
/*
 * Gives up on a node that takes queries and does not answer them, though its health check says
 * that all is well.
 *
 *     closed ─5 failures in a row─▶ open ─a probe succeeds─▶ half open ─an answer─▶ closed
 *       ▲                            │ ▲──────one failure──────┘
 *       └──a probe succeeds after one failed: it was away, and is back
 *
 * While it is open the node is connected to and probed anew, with pauses of 3 s at most. A node
 * that fails these probes, too, was simply gone: the first success closes the breaker. One that
 * answers probes all along is tried with one query at a time (half open).
 *
 * It only counts; who asks decides what a failure is and keeps the time.
 */
#pragma once

#include <stdbool.h>

#define BREAKER_FAILURES 5

enum breaker_state {
    BREAKER_CLOSED,    /* calls go out */
    BREAKER_OPEN,      /* none; waits for a probe */
    BREAKER_HALF_OPEN, /* one at a time; waits for its answer */
};

struct breaker {
    enum breaker_state state;
    unsigned failures; /* in a row */
    bool was_away;     /* a probe has failed since it opened */
};

/* "closed", "open", "half-open" */
const char *breaker_name(const struct breaker *breaker);
/* A call was not answered. True: it opens now. */
bool breaker_failed(struct breaker *breaker);
/* A call was answered. */
void breaker_worked(struct breaker *breaker);
void breaker_probe_failed(struct breaker *breaker);
void breaker_probe_worked(struct breaker *breaker);
