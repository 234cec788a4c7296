// SPDX-License-Identifier: Apache-2.0
/*
 * What an exchange and a call have in common: one HTTP/2 stream that carries gRPC messages both
 * ways. nghttp2's user data of the stream is this struct.
 */
#pragma once

#include "liaison/http2/h2.h"
#include "liaison/http2/headers.h"
#include "liaison/http2/inbox.h"

/* What a peer has to take between two looks at whether it takes anything. */
#define STREAM_PACE ((size_t)64 << 10)

/* Embedded by its owner. */
struct stream {
    struct h2 *h2;          /* borrow: outlives its streams */
    int32_t id;             /* -1 = nghttp2 does not know it (any more) */
    struct headers headers; /* received: the request's, or the answer's with its trailers */
    struct inbox inbox;
    struct chain out;  /* prefixes and messages to be sent */
    bool out_complete; /* nothing will be added */
    bool out_waits;    /* nghttp2 asked for bytes when there were none */
    bool input_held;   /* the peer's window is not opened again */
    size_t input_owed; /* bytes received meanwhile */
    uint64_t moved_at; /* loop_now when STREAM_PACE bytes had left since the last such moment, or
                          when some came into the empty chain */
    size_t moved;      /* bytes that have left since */
    uint64_t came_at;  /* loop_now when DATA last came; kept by its owner */
    /* The last byte is being sent: may submit trailers. NULL = END_STREAM says it all. */
    void (*on_out_complete)(struct stream *stream);
    struct reply *reply; /* borrow: for that function; NULL on the client's side */
};

void stream_init(struct stream *stream, struct h2 *h2, size_t max_header_bytes,
                 size_t max_message_bytes, struct charge *charge);
/* nghttp2 does not find it any more, messages in either direction are dropped; the received headers
 * stay. */
void stream_close(struct stream *stream);
void stream_fini(struct stream *stream);

/* For the nghttp2 session: the data callbacks for stream_provider. */
void stream_set_callbacks(nghttp2_session_callbacks *callbacks);
nghttp2_data_provider stream_provider(struct stream *stream);

/* Puts a message (left empty) behind those that wait, with its prefix. */
void stream_send(struct stream *stream, struct chain *message /* take */);
void stream_complete(struct stream *stream);
/* What waits to be sent is dropped, and on_out_complete is not called: the caller ends the stream.
 */
void stream_drop(struct stream *stream);
/* RST_STREAM; what waits to be sent is dropped. */
void stream_reset(struct stream *stream, uint32_t http2_code);

/* Received DATA has been dealt with: the peer may send as much again, on this stream only once
 * input is not held. */
void stream_consume(struct stream *stream, size_t len);
void stream_hold_input(struct stream *stream, bool hold);
