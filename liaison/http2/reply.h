// SPDX-License-Identifier: Apache-2.0
/*
 * What goes back on one stream of a server:
 *
 *     HEADERS, DATA …, HEADERS (trailers)       or only HEADERS, when nothing had been sent before
 */
#pragma once

#include "liaison/http2/stream.h"

/* Embedded by its exchange, right behind its stream. */
struct reply {
    struct stream *stream;   /* borrow: the exchange's */
    struct headers ending;   /* grpc-status and grpc-message */
    struct headers trailers; /* the user's */
    bool begun;              /* headers were submitted */
};

void reply_init(struct reply *reply, struct stream *stream);
void reply_fini(struct reply *reply);

/* Copied; left out when they exceed what a peer can be expected to take. */
void reply_trailer(struct reply *reply, const char *key, const char *value);
void reply_send(struct reply *reply, struct chain *message /* take: left empty */);
/* The status (NULL = OK) and the trailers end the stream, behind all messages. When nothing was
 * sent, `http_status` goes with them; 415 goes alone. */
void reply_finish(struct reply *reply, unsigned http_status, const struct error *status);
/* For a reply that has begun and of which bytes wait: they are dropped, and a status other than OK
 * follows what has been sent, perhaps in the middle of a message. Trailers need no window, so the
 * client gets to know why, however little it reads. */
void reply_cut(struct reply *reply, const struct error *status);
