// SPDX-License-Identifier: Apache-2.0
/*
 * The other end of an HTTP/2 connection, drawn from an input: frames as gRPC has them, frames that
 * are out of place, and bytes that are none, written in pieces of any size; what comes is read now
 * and then. Nothing of what it reads is looked at.
 */
#pragma once

#include "tests/fuzz/draw.h"

#define DRAWN_PEER_BYTES 65536

struct drawn_peer {
    struct draw *draw; /* borrow */
    bool is_client;
    int fd;           /* own; non-blocking; -1: none, or no more */
    uint32_t streams; /* that a client has begun, or a server answers to */
    size_t begin;     /* of what is to be written */
    size_t end;
    uint8_t bytes[DRAWN_PEER_BYTES];
};

/* Takes fd. It begins with a greeting, mostly. */
void drawn_peer_init(struct drawn_peer *peer, struct draw *draw, bool is_client, int fd);
/* Does something. */
void drawn_peer_step(struct drawn_peer *peer);
/* Leaves; a second time is a no-op. */
void drawn_peer_fini(struct drawn_peer *peer);
