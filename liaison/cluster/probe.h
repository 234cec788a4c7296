// SPDX-License-Identifier: Apache-2.0
/* grpc.health.v1 as its client: "is this server, as a whole, serving?" */
#pragma once

#include "liaison/cluster/unary.h"

struct probe_options {
    uint64_t timeout_ms;   /* 0 = whoever asks keeps the time */
    bool with_credentials; /* sends username and password, both empty, as discovery does */
    struct charge *charge; /* borrow: outlives the answer */
    void (*on_answer)(void *owner, struct msg *msg /* take */, const struct error *why);
    void *owner; /* borrow */
};

struct unary *probe_ask(struct loop *loop, struct link *link, const struct probe_options *options);
/* What on_answer was given: true when the answer says SERVING. The message stays the caller's. */
bool probe_is_serving(struct msg *msg, const struct error *why, struct error *err) MUST_CHECK;
