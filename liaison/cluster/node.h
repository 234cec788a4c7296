// SPDX-License-Identifier: Apache-2.0
/*
 * One executor's connection to one data node: connect, probe, back off, send a query.
 *
 *     DOWN ─connect─▶ PROBING ─SERVING─▶ UP ─probe failed, link lost─▶ DOWN (after the back-off)
 *
 * All of that happens off the query path: a query asks only nodes that are UP, and a call in
 * flight ends when its link breaks or its deadline passes. A node from which nothing comes during a
 * probe is DOWN; what is in flight ends when it does not answer on a new connection either.
 *
 * A node that says goodbye in an orderly way (GOAWAY) stays UP: the calls begun go on over the old
 * link, new ones over a second one, and with them those of which nothing had left.
 */
#pragma once

#include "liaison/cluster/member.h"
#include "liaison/http2/link.h"
#include "liaison/log.h"
#include "liaison/metrics.h"
#include "liaison/options/options.h"

enum node_state {
    NODE_DOWN,    /* no link; waits for the back-off timer */
    NODE_PROBING, /* link being made, or waiting for the first health answer (2 s) */
    NODE_UP,      /* healthy; probed again every --data-client-health-check-interval */
};

struct node;

struct node_setup {
    struct loop *loop;             /* borrow: outlives the node */
    const struct options *options; /* borrow: outlives the node */
    struct log *log;               /* borrow: outlives the node; may be NULL */
    struct metrics *metrics;       /* borrow: outlives the node; may be NULL */
    struct charge *charge;         /* borrow: outlives the loop's reaping; pays for wire buffers */
    struct link_live *live; /* borrow: outlives the loop; counts links and calls; may be NULL */
    /* Called from the loop at each change; may be NULL. */
    void (*on_state)(void *owner, struct node *node);
    void *owner; /* borrow */
};

/* Copies what it needs of the member. Never NULL; begins PROBING, connects in the next turn. */
struct node *node_open(const struct node_setup *setup, const struct member *member);
/* Its calls end with UNAVAILABLE (from the loop); no on_state any more. */
void node_close(struct node **node);

const char *node_name(const struct node *node);
const char *node_address(const struct node *node);
enum node_state node_state(const struct node *node);
/* Why it is not UP ("" when it is). */
const char *node_last_error(const struct node *node);
/* Wall clock, ns since the epoch: the last moment at which it was seen down; 0 = never. */
int64_t node_down_at(const struct node *node);
/* UP, and not waiting for the one call that tries it after its breaker was open. */
bool node_takes_calls(const struct node *node);
/* Its last answer held a frame of this version. */
void node_answered(struct node *node, unsigned frame_version);

/* A copy of what there is to tell, for other threads. */
struct node_report {
    enum node_state state;
    int64_t since;           /* ns since the epoch: of this state */
    struct error last_error; /* the last reason of not being UP; code NONE = none so far */
    int64_t last_error_at;   /* ns since the epoch */
    const char *breaker;     /* borrow: static */
    size_t calls;            /* in flight */
    unsigned frame_version;  /* of its last answer; 0 = none yet */
};
struct node_report node_report(const struct node *node);

size_t node_calls(const struct node *node);
size_t node_links(const struct node *node);

struct node_call;

struct node_call_options {
    const char *topic;       /* borrow: "v1:internal-measure-query" */
    struct slice body;       /* borrow: copied into the request */
    const char *group;       /* borrow: SendRequest.group */
    const char *sender_node; /* borrow: our node name */
    uint64_t deadline;       /* loop_now's clock */
    struct charge *charge;   /* borrow: the query's; outlives the message */
    /* As of a call (link.h). May be NULL. */
    bool (*admit)(void *owner, size_t declared, struct slice head, struct error *err);
};

/* One query to the node over cluster.v1.Service/Send; exactly one answer: either a whole
 * SendResponse message (taken), or NULL and why. It comes from the loop, never from inside
 * node_send; not after node_call_cancel. The call must not be used afterwards.
 *
 * The texts are those of the Go liaison: `failed to publish message to <node>: …` when the request
 * could not leave, `rpc error: code = Unavailable desc = …` when the RPC failed later. What admit
 * said comes unchanged. */
struct node_call *node_send(struct node *node, const struct node_call_options *options,
                            void (*on_answer)(void *owner, struct msg *msg /* take */,
                                              const struct error *why),
                            void *owner);
/* The same for a member that nobody is connected to (it left, or never came): the call fails, from
 * the loop, like one to a node that is down. */
struct node_call *node_call_missing(struct loop *loop, const char *name,
                                    const struct node_call_options *options,
                                    void (*on_answer)(void *owner, struct msg *msg /* take */,
                                                      const struct error *why),
                                    void *owner);
/* NULLs the pointer; NULL is a no-op. */
void node_call_cancel(struct node_call **call);
