// SPDX-License-Identifier: Apache-2.0
/*
 * Asks an address who it is: connect, health check until it answers, GetCurrentNode, disconnect.
 *
 * The check comes first because a node opens its port before it knows itself; any answer to it will
 * do. All steps together have --node-discovery-grpc-timeout.
 */
#pragma once

#include "liaison/http2/link.h"
#include "proto/database.pb-c.h"

struct whois;

struct whois_setup {
    struct loop *loop;      /* borrow */
    const char *address;    /* borrow during whois_open */
    struct ssl_ctx_st *tls; /* borrow: outlives the whois; NULL = clear text */
    const char *tls_switch; /* borrow: static */
    uint64_t timeout_ms;
    struct charge *charge;  /* borrow: outlives the loop's reaping */
    struct link_live *live; /* borrow; may be NULL */
    /* Once, from the loop: the node (taken; freed with protobuf-c's free_unpacked), or NULL and
     * why. The whois must not be used afterwards. */
    void (*on_answer)(void *owner, Banyandb__Database__V1__Node *node /* take */,
                      const struct error *why);
    void *owner; /* borrow */
};

struct whois *whois_open(const struct whois_setup *setup);
/* No answer comes any more. NULLs the pointer; NULL is a no-op. */
void whois_close(struct whois **whois);
