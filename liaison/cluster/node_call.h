// SPDX-License-Identifier: Apache-2.0
/*
 * One query to one node, seen from the node: the SendRequest, the wait, the one answer. The public
 * side (node_send, node_call_cancel) is in node.h.
 */
#pragma once

#include "liaison/cluster/node.h"
#include "liaison/cluster/unary.h"

#include <sys/queue.h>

struct node_call {
    TAILQ_ENTRY(node_call) entry; /* in its node's list while `node` is set */
    struct loop *loop;            /* borrow */
    struct node *node;            /* borrow; NULL when the node was closed or the call has ended */
    struct log *log;              /* borrow: the node's; NULL = no lines */
    struct unary *unary;          /* own; NULL before the start and after the end */
    struct loop_task failure;     /* tells `why` later in the turn, when there was no RPC to fail */
    struct error why;
    bool ended;
    bool refused; /* by admit: the text is the query's own */
    uint64_t started;
    bool (*admit)(void *owner, size_t declared, struct slice head, struct error *err);
    void (*on_answer)(void *owner, struct msg *msg /* take */, const struct error *why);
    void *owner; /* borrow */
};

TAILQ_HEAD(node_call_list, node_call);

/* Not in any list yet. */
struct node_call *node_call_new(struct loop *loop, const struct node_call_options *options,
                                void (*on_answer)(void *owner, struct msg *msg,
                                                  const struct error *why),
                                void *owner);
void node_call_start(struct node_call *call, struct link *link,
                     const struct node_call_options *options, const char *tier);
/* Ends it with why, from the loop. */
void node_call_fail(struct node_call *call, const struct error *why);

/* node.c: which link takes over a call of which nothing has left; NULL = none. */
struct link *node_call_next_link(struct node *node);
/* node.c: a call of the node has ended, well (NULL) or not, or was cancelled; it is taken off the
 * node's list here. */
void node_call_ended(struct node *node, struct node_call *call, const struct error *why,
                     bool cancelled);
