// SPDX-License-Identifier: Apache-2.0
/*
 * DATA bytes of one stream become messages. Pure: bytes in, messages or an error out.
 *
 *     | flag | length | message bytes … | flag | length | …      in chunks of any size
 *       └ prefix (5) ┘└ head (64) ┘
 *                      └▶ one msg, sized once from the length
 *
 * The declared length is checked against the limit as soon as it is there. What the message begins
 * with may tell as much as its size, so `admit` is asked with both, before the message has memory:
 * until then its first bytes wait with the prefix.
 */
#pragma once

#include "frame/error.h"
#include "frame/msg.h"
#include "liaison/http2/grpc.h"

#define INBOX_HEAD_BYTES 64 /* of a message; all of a shorter one */

struct inbox {
    size_t max_bytes;      /* of one message */
    struct charge *charge; /* borrow: pays for the messages; may be NULL */
    struct slice encoding; /* borrow: of compressed messages; len 0 = none was declared */
    /* Asked once for each message, when its head is there; false refuses it with err. May be NULL.
     */
    bool (*admit)(void *owner, size_t declared, struct slice head, struct error *err);
    void *owner; /* borrow: for admit */

    struct msg *msg;                                     /* own: the one that is arriving */
    uint8_t front[GRPC_PREFIX_BYTES + INBOX_HEAD_BYTES]; /* its prefix and its head */
    unsigned front_len;                                  /* bytes of it that have arrived */
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

/* Part of a message has come, and the rest has not. */
static inline bool inbox_is_amid(const struct inbox *inbox)
{
    return inbox->front_len > 0;
}

/* The stream has ended. False: within a message, and err says where. */
bool inbox_end(const struct inbox *inbox, struct error *err) MUST_CHECK;
