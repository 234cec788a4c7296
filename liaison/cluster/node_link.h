// SPDX-License-Identifier: Apache-2.0
/*
 * How a data node is connected to: one link that takes calls, or none, and any number of older ones
 * that only finish what they began.
 */
#pragma once

#include "liaison/cluster/node.h"
#include "liaison/cluster/old_links.h"

#define NODE_LINK_CONNECT_MS 2000

/* Of the link that takes calls; from the loop, the last thing that is done in a turn. */
struct node_link_events {
    void (*on_ready)(void *owner);    /* it stands */
    void (*on_draining)(void *owner); /* the node said GOAWAY: retire it, or close it */
    void (*on_lost)(void *owner, const struct error *why); /* it broke, or was never made: close */
};

/* Embedded by its owner. Read it, write it not. */
struct node_link {
    const struct node_setup *setup; /* borrow: outlives it, as all borrows here */
    const char *address;            /* borrow */
    const struct node_link_events *events;
    void *owner;
    struct link *link;      /* own; NULL = no calls can be made */
    struct ssl_ctx_st *tls; /* own; of the last connection */
    struct old_links old;
};

void node_link_init(struct node_link *node_link);
/* Closes all. The memory must outlive this loop turn; then node_link_free_tls. */
void node_link_fini(struct node_link *node_link);
void node_link_free_tls(struct node_link *node_link);
/* Makes a new one. False: it cannot even be tried. */
bool node_link_connect(struct node_link *node_link, struct error *why) MUST_CHECK;
/* The current one only finishes what it began. A no-op without one. `doubted`: the node fell silent
 * on it. When the next one works, it was only slow, and the calls may go on (trust); when that one
 * is not answered either, they end with why (fail). */
void node_link_retire(struct node_link *node_link, bool doubted);
void node_link_trust(struct node_link *node_link);
void node_link_fail(struct node_link *node_link, const struct error *why);
/* The calls on the current one end with why. A no-op without one. */
void node_link_close(struct node_link *node_link, const struct error *why);
/* A call has ended: perhaps an older link has none left. */
void node_link_sweep(struct node_link *node_link);
size_t node_link_count(const struct node_link *node_link);
