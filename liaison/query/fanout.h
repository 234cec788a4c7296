// SPDX-License-Identifier: Apache-2.0
/*
 * Questions to nodes: a call for each (question, node), many at the same time, and a counter.
 *
 *     ask … ─▶ seal ─▶ on_answer, on_take … (one by one; may ask more) … ─▶ on_complete
 *
 * Answers wait in the order in which they came until the owner takes them in, one after the other
 * and each in shares: what a node sent may take longer than a turn of the loop.
 *
 * It is an object with a counter and not a set of flags on calls, so "are all in?" is one compare.
 * It waits for all open calls also when one failed: the error told is then a function of the data.
 */
#pragma once

#include "frame/progress.h"
#include "liaison/cluster/node.h"
#include "merge/arena.h"

struct fanout;

/* Who is asked what. */
struct fanout_source {
    size_t question;  /* a number of the owner's */
    size_t rank;      /* the node's place by name */
    const char *name; /* borrow: the node's, outlives the fan-out */
};

struct fanout_events {
    /* An answer waits that could be taken in (fanout_take). */
    void (*on_waiting)(void *owner);
    /* A node's SendResponse body; false fails that call with err. The message is borrowed until the
     * answer is taken in; NULL, with an empty body: the node was lost, and the answer goes on
     * without it. */
    bool (*on_answer)(void *owner, const struct fanout_source *source, struct msg *msg,
                      struct slice body, struct error *err);
    /* Goes on with it, until DONE or FAILED. */
    enum progress (*on_take)(void *owner, const struct fanout_source *source, size_t *left,
                             struct error *err);
    /* Asked before a node's message of this declared size is received, with what it begins with
     * (inbox.h); false refuses it. */
    bool (*admit)(void *owner, const struct fanout_source *source, size_t declared,
                  struct slice head, struct error *err);
    /* A node could not be reached, its connection broke, or it did not answer in time: err says
     * which, in the node's words. True: the answer goes on without it; on_answer follows. False:
     * the call has failed with err, which may be replaced. */
    bool (*on_lost)(void *owner, const struct fanout_source *source, struct error *err);
    /* NULL when all answered. Otherwise the calls' errors in (question, node) order, joined by
     * "; "; the code is the first one's: UNKNOWN for what a node or the way to it failed with, and
     * the code of the events above for what they refused. */
    void (*on_complete)(void *owner, const struct error *failed);
};

/* Lives in the region. Room for `capacity` open calls. */
struct fanout *fanout_open(struct loop *loop, struct arena *arena, size_t capacity,
                           const struct fanout_events *events, void *owner);
/* Before the seal, or from inside on_answer and on_take. A NULL node is lost, from the loop.
 * `call->admit` and `call->charge` are the fan-out's: who pays for its region pays for answers. */
void fanout_ask(struct fanout *fanout, const struct fanout_source *source, struct node *node,
                const struct node_call_options *call);
/* The first calls are asked: it is complete as soon as none is open. Without any, on_complete comes
 * from inside. */
void fanout_seal(struct fanout *fanout);
/* Takes in what waits, as far as the allowance reaches. True: some still waits. on_complete may
 * come from inside, and then the fan-out and its owner may be gone: false. */
bool fanout_take(struct fanout *fanout, size_t *left);
bool fanout_is_waiting(const struct fanout *fanout);
/* A call has failed: what is asked now is asked for nothing. */
bool fanout_has_failed(const struct fanout *fanout);
/* Marks the nodes whose answers are waited for, by rank: to any question, or to this one. */
void fanout_mark_open(const struct fanout *fanout, bool *marks);
void fanout_mark_open_of(const struct fanout *fanout, size_t question, bool *marks);
/* From inside on_take: what is still open is not waited for; it is complete. */
void fanout_abandon(struct fanout *fanout);
/* Likewise what is open of this question. */
void fanout_abandon_of(struct fanout *fanout, size_t question);
/* Cancels what is still open or waits; no event comes any more. */
void fanout_close(struct fanout **fanout);
size_t fanout_open_calls(const struct fanout *fanout);
