// SPDX-License-Identifier: Apache-2.0
/*
 * Is the peer of a link alive? It is asked for its health, again and again, with pauses.
 *
 *     pulse_ask ─▶ waits ─ SERVING, another answer, or the RPC failed ─▶ on_answer
 *                    └──── nothing came for PULSE_PATIENCE_MS ─────────▶ on_answer (why)
 *
 * Whatever comes over the link is a sign of life: the answer may have to wait behind large bodies
 * on the same connection. What lies in the socket unread counts too: that we are slow says nothing
 * about the peer. So the RPC has no deadline of its own, which a peer would keep, too.
 */
#pragma once

#include "liaison/cluster/unary.h"

#define PULSE_PATIENCE_MS 2000u

/* Embedded by its owner. */
struct pulse {
    struct loop *loop;     /* borrow: outlives it */
    struct charge *charge; /* borrow: outlives the answers */
    /* NULL = SERVING; else why not: DEADLINE_EXCEEDED = nothing came. From the loop; may stop, ask,
     * or close the link. */
    void (*on_answer)(void *owner, const struct error *why);
    void *owner;         /* borrow */
    struct link *link;   /* borrow: outlives the question */
    struct unary *unary; /* own; NULL = nothing is asked */
    uint64_t asked_at;
    struct loop_timer next;
    struct loop_timer patience;
};

/* Its four first fields are set by the owner. */
void pulse_init(struct pulse *pulse);
void pulse_fini(struct pulse *pulse);
/* A no-op while an answer is waited for. */
void pulse_ask(struct pulse *pulse, struct link *link);
void pulse_ask_later(struct pulse *pulse, struct link *link, uint64_t delay_ms);
/* No question is open, none will be asked, no answer comes any more. */
void pulse_stop(struct pulse *pulse);
