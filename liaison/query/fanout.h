// SPDX-License-Identifier: Apache-2.0
/*
 * One plan to its nodes: a call for each (group, node), all at the same time, and a counter.
 *
 *     fanout_ask … ─▶ on_answer (each as it comes) … ─▶ on_complete (when the last one is in)
 *
 * It is an object with a counter and not a set of flags on calls, so "are all in?" is one compare.
 * It waits for all calls also when one failed: the error told is then a function of the data.
 */
#pragma once

#include "liaison/cluster/node.h"
#include "merge/arena.h"

struct fanout;

struct fanout_events {
    /* A node's SendResponse body; false fails that call with err. The message is borrowed. */
    bool (*on_answer)(void *owner, size_t group, size_t rank, struct msg *msg, struct slice body,
                      struct error *err);
    /* Asked before a node's message of this declared size is received; false refuses it. */
    bool (*admit)(void *owner, size_t declared, struct error *err);
    /* NULL when all answered. Otherwise the calls' errors in (group, node) order, joined by "; ";
     * the code is the first one's: UNKNOWN for what a node or the way to it failed with, else what
     * on_answer or admit said. */
    void (*on_complete)(void *owner, const struct error *failed);
};

/* Lives in the region. Room for `capacity` calls. */
struct fanout *fanout_open(struct arena *arena, size_t capacity, const struct fanout_events *events,
                           void *owner);
/* `rank` is the node's place by name; `call->admit` is the fan-out's. */
void fanout_ask(struct fanout *fanout, size_t group, size_t rank, struct node *node,
                const struct node_call_options *call);
/* No more calls are asked; without any, on_complete comes from inside. */
void fanout_seal(struct fanout *fanout);
/* Cancels what is still open; no event comes any more. */
void fanout_close(struct fanout **fanout);
size_t fanout_open_calls(const struct fanout *fanout);
