// SPDX-License-Identifier: Apache-2.0
/*
 * One executor's connection to one data node: connect, probe, back off, send a query.
 *
 *     DOWN ─connect─▶ PROBING ─SERVING─▶ UP ─probe failed, link lost─▶ DOWN (after the back-off)
 *
 * All of that happens off the query path: a query asks only nodes that are UP, and a call in
 * flight ends when its link breaks, its deadline passes, or a probe of the node fails.
 */
#pragma once

#include "liaison/cluster/world.h"
#include "liaison/http2/link.h"
#include "liaison/options.h"

enum node_state {
    NODE_DOWN,    /* no link; waits for the back-off timer */
    NODE_PROBING, /* link being made, or waiting for the first health answer (2 s) */
    NODE_UP,      /* healthy; probed again every --data-client-health-check-interval */
};

struct node;

/* `on_state` is called from the loop at each change. */
struct node *node_open(struct loop *loop, const struct options *options,
                       const struct member *member, struct charge *charge,
                       void (*on_state)(void *owner, struct node *node), void *owner);
/* Ends its calls with UNAVAILABLE. */
void node_close(struct node **node);

const char *node_name(const struct node *node);
const char *node_address(const struct node *node);
enum node_state node_state(const struct node *node);
/* Why it is not UP ("" when it is). */
const char *node_last_error(const struct node *node);

struct node_call;

struct node_call_options {
    const char *topic;       /* "v1:internal-measure-query" */
    struct slice body;       /* borrow: copied into the request */
    const char *group;       /* borrow: SendRequest.group */
    const char *sender_node; /* borrow: our node name */
    uint64_t deadline;       /* loop_now's clock */
    struct charge *charge;   /* borrow: the query's; outlives the message */
    bool (*admit)(void *owner, size_t declared, struct error *err); /* may be NULL */
};

/* One query to the node over cluster.v1.Service/Send; exactly one answer: either a whole
 * SendResponse message (taken), or NULL and why. The texts are those of cluster-protocol 3.5. It
 * comes from the loop, never from inside node_send; not after node_call_cancel. */
struct node_call *node_send(struct node *node, const struct node_call_options *options,
                            void (*on_answer)(void *owner, struct msg *msg /* take */,
                                              const struct error *why),
                            void *owner);
void node_call_cancel(struct node_call **call);
