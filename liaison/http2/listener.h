// SPDX-License-Identifier: Apache-2.0
/* A listening socket: hands out accepted sockets until it is closed. */
#pragma once

#include "frame/error.h"
#include "liaison/loop.h"

#include <stdint.h>

#define LISTENER_PEER_BYTES 64

struct listener;

struct listener_options {
    const char *host; /* borrow during the call; "" = all addresses. A name may block */
    uint16_t port;    /* 0 = the kernel chooses */
    bool reuse_port;
    unsigned unacked_timeout_ms; /* TCP_USER_TIMEOUT of what is accepted */
};

/* A non-blocking socket (taken) and "ip:port" of its peer (borrow). From the loop, or from inside
 * listener_leave and listener_close. */
typedef void listener_accepted(void *owner, int fd, const char *peer);

/* NULL: err tells. */
struct listener *listener_open(struct loop *loop, const struct listener_options *options,
                               listener_accepted *accepted, void *owner,
                               struct error *err) MUST_CHECK;
uint16_t listener_port(const struct listener *listener);

/* Leaves without turning anybody away: where others listen on the same port, new connections are
 * steered to them first, and for a second those are still handed out that had begun here. `left` is
 * called from the loop when the socket is closed. */
void listener_leave(struct listener *listener, void (*left)(void *owner));
/* Hands out what the kernel has accepted so far, then closes. NULLs the pointer; NULL is a no-op.
 */
void listener_close(struct listener **listener);
