// SPDX-License-Identifier: Apache-2.0
/*
 * One RPC with one answer: a request goes out, one message or a reason why not comes back, once.
 * Health checks, GetCurrentNode and queries to data nodes all are of this kind.
 */
#pragma once

#include "liaison/http2/link.h"

struct unary;

struct unary_options {
    struct call_options call; /* admit is called with `owner` */
    struct slice request;     /* borrow: copied */
    /* Which link takes over when the peer has said GOAWAY before anything of the request had left;
     * NULL = none: it ends. May be NULL; else what `call` borrows outlives the RPC. */
    struct link *(*next_link)(void *owner);
    /* The answer counts as soon as its message is whole; the rest of the RPC is cancelled.
     * Otherwise it counts when the status OK has followed. */
    bool first_message_is_enough;
    /* From the loop; exactly one of the two is given. The unary must not be used afterwards. An RPC
     * that ends well without a message is UNAVAILABLE, `EOF`. */
    void (*on_answer)(void *owner, struct msg *msg /* take */, const struct error *why);
    void *owner; /* borrow */
};

struct unary *unary_open(struct loop *loop, struct link *link, const struct unary_options *options);
/* Inside on_answer: `why` is the peer's own status; otherwise what was found here. */
bool unary_status_is_theirs(const struct unary *unary);
/* NULLs the pointer; NULL is a no-op. No answer comes any more. */
void unary_cancel(struct unary **unary);
