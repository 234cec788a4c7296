// SPDX-License-Identifier: Apache-2.0
/*
 * One call of a client, as its connection sees it: nghttp2's callbacks, already looked up, come in
 * here. What the user sees is in server.h.
 */
#pragma once

#include "liaison/http2/reply.h"
#include "liaison/http2/server.h"
#include "liaison/http2/stream.h"

struct connection;

#define EXCHANGE_HEADER_BYTES_MAX ((size_t)16 << 10)

/*  ARRIVING ─▶ RECEIVING ─▶ ANSWERING ─▶ FINISHING ─▶ CLOSED
 *     └────────────┴─ refused, failed, finished early ─▶┘         CLOSED from each of them */
enum exchange_state {
    EXCHANGE_ARRIVING,  /* its header block is incomplete; the connection bounds that */
    EXCHANGE_RECEIVING, /* the user knows it, request messages come; deadline timer */
    EXCHANGE_ANSWERING, /* the client has said everything, the user has not; deadline timer */
    EXCHANGE_FINISHING, /* the status is known, the user has left; stall watch */
    EXCHANGE_CLOSED,    /* nghttp2 has closed the stream; waits for the reaper */
};

struct exchange {
    struct stream stream;          /* first: nghttp2's user data is its address */
    struct connection *connection; /* borrow: outlives its exchanges */
    TAILQ_ENTRY(exchange) next;    /* in the connection's list */
    enum exchange_state state;
    struct exchange_head head;
    struct reply reply;
    struct loop_timer deadline;
    struct msg *held; /* own: a unary call's message until the client has finished */
    bool unary;
    void *user; /* borrow */
};

/* For a stream that begins. */
struct exchange *exchange_new(struct connection *connection, int32_t stream_id);

void exchange_on_head(struct exchange *exchange);                     /* header block complete */
void exchange_on_data(struct exchange *exchange, struct slice chunk); /* DATA */
void exchange_on_half_close(struct exchange *exchange);               /* END_STREAM came */
void exchange_on_end_sent(struct exchange *exchange);                 /* END_STREAM left */
void exchange_on_stream_close(struct exchange *exchange, uint32_t http2_code);
/* The connection is lost: on_gone if due, then the reap list. */
void exchange_on_closed(struct exchange *exchange, const struct error *why);

/* Gives it up if bytes of its answer wait and less than STREAM_PACE were taken for so long, or if
 * the rest of a message is to come and nothing of it did. When to look again, on loop_now's clock;
 * UINT64_MAX: nothing is waited for. */
uint64_t exchange_check_stall(struct exchange *exchange, uint64_t now, uint64_t timeout_ns);
