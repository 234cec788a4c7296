// SPDX-License-Identifier: Apache-2.0
/*
 * DATA bytes of one stream become messages. Pure: bytes in, messages or an error out.
 *
 *     | flag | length | message bytes … | flag | length | …      in chunks of any size
 *       └ prefix (5) ┘   └▶ one msg, sized once from the length
 *
 * The declared length is checked against the limit, and by `admit`, before anything is kept.
 */
#pragma once

#include "frame/error.h"
#include "frame/msg.h"
#include "liaison/http2/grpc.h"

struct inbox {
    size_t max_bytes;      /* of one message */
    struct charge *charge; /* borrow: pays for the messages; may be NULL */
    struct slice encoding; /* borrow: of compressed messages; len 0 = none was declared */
    /* Asked once for each message; false refuses it with err. May be NULL. */
    bool (*admit)(void *owner, size_t declared, struct error *err);
    void *owner; /* borrow: for admit */

    struct msg *msg; /* own: the one that is arriving */
    uint8_t prefix[GRPC_PREFIX_BYTES];
    unsigned prefix_len; /* bytes of it that have arrived */
};

enum inbox_result {
    INBOX_NEED_MORE, /* the chunk is used up */
    INBOX_MESSAGE,   /* *msg_out is a complete message; the rest of the chunk may hold more */
    INBOX_BROKEN,    /* err tells; feed it no more */
};

void inbox_init(struct inbox *inbox, size_t max_bytes, struct charge *charge);
void inbox_fini(struct inbox *inbox);

/* Eats from the front of *chunk. *msg_out is taken by the caller. */
enum inbox_result inbox_feed(struct inbox *inbox, struct slice *chunk, struct msg **msg_out,
                             struct error *err) MUST_CHECK;

/* The stream has ended. False: within a message, and err says where. */
bool inbox_end(const struct inbox *inbox, struct error *err) MUST_CHECK;
