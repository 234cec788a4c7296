// SPDX-License-Identifier: Apache-2.0
/*
 * Gives up on a node that takes queries and does not answer them, though its health check says
 * that all is well.
 *
 *     closed ─5 failures in a row─▶ open ─60 s─▶ half open ─success─▶ closed
 *                                    ◀──────one failure──────┘
 *
 * It only counts; who asks decides what a failure is and keeps the time.
 */
#pragma once

#include <stdbool.h>

#define BREAKER_FAILURES 5
#define BREAKER_OPEN_MS  60000

struct breaker {
    unsigned failures; /* in a row */
};

/* True: it opens now. */
bool breaker_failed(struct breaker *breaker);
void breaker_worked(struct breaker *breaker);
/* After the time open: the next failure opens it again. */
void breaker_half_open(struct breaker *breaker);
