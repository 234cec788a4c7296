// SPDX-License-Identifier: Apache-2.0
/*
 * The gRPC server side: a listener, its client connections, and one exchange for each stream.
 *
 *     on_open ─▶ on_message … ─▶ on_half_close        the client's side
 *        └─▶ exchange_send … ─▶ exchange_finish       the user's side, as early as he likes
 *     on_gone                                         instead of the rest, at any time
 *
 * The server checks everything that is HTTP/2 and gRPC (method, content type, prefix, size,
 * compression, deadline syntax); its user sees only well-formed calls. All of it runs on one loop.
 */
#pragma once

#include "frame/chain.h"
#include "frame/error.h"
#include "frame/msg.h"
#include "liaison/loop.h"

struct server;
struct exchange;
struct ssl_ctx_st;

struct exchange_head {
    struct slice path;      /* borrow: valid until the exchange ends: "/package.Service/Method" */
    uint64_t deadline;      /* loop_now's clock; 0 = none */
    struct slice authority; /* borrow */
};

struct server_events {
    /* A call begins; exchange_set_user lets the later events find what belongs to it. */
    void (*on_open)(void *owner, struct exchange *exchange, const struct exchange_head *head);
    void (*on_message)(void *owner, struct exchange *exchange, struct msg *msg /* take */);
    void (*on_half_close)(void *owner, struct exchange *exchange);
    /* The client cancelled, the connection broke, the deadline passed or the request turned out to
     * be malformed (in these two cases the server has already answered). The exchange must not be
     * used afterwards. Not called for an exchange that was finished. */
    void (*on_gone)(void *owner, struct exchange *exchange, const struct error *why);
    /* Asked before a message of this declared size is received; false refuses it and fails the call
     * with err. May be NULL: only the limit counts. */
    bool (*admit)(void *owner, size_t declared, struct slice head, struct error *err);
    /* For the log; may be NULL. An answer is given up, perhaps after the user had finished, because
     * the client takes too little of it. */
    void (*on_cut)(void *owner, struct exchange *exchange, const struct error *why);
    /* For the log; may be NULL. A client speaks TLS and the server does not, or the other way
     * round. */
    void (*on_mismatch)(void *owner, const char *peer, const struct error *why);
    /* For the log; may be NULL. A client ("ip:port") has gone, and why. */
    void (*on_disconnect)(void *owner, const char *peer, const struct error *why);
};

/* What is alive. */
struct server_live {
    size_t connections;
    size_t exchanges; /* until their last byte has left, the client's part included */
};

struct server_options {
    const char *host; /* borrow during server_open; "" = all addresses */
    uint16_t port;    /* 0 = the kernel chooses */
    bool reuse_port;
    struct ssl_ctx_st *tls;          /* borrow; NULL = h2c */
    size_t max_message_bytes;        /* of a request; larger: RESOURCE_EXHAUSTED */
    uint32_t max_concurrent_streams; /* announced to clients */
    /* A response of which less than 64 KiB could be sent for so long is cut: its end is a status
     * that tells why. A message that stops arriving is refused. 0 = never. */
    uint64_t stall_timeout_ms;
    uint64_t greeting_timeout_ms; /* from accept to the client's SETTINGS; 0 = 20,000 */
    struct charge *charge;        /* borrow: pays for messages, responses and wire buffers */
};

struct server *server_open(struct loop *loop, const struct server_options *options,
                           const struct server_events *events, void *owner,
                           struct error *err) MUST_CHECK;
uint16_t server_port(const struct server *server);
/* Connections accepted from now on use this context (borrow: until another one is set or the server
 * is closed). Only for a server that was opened with one. */
void server_set_tls(struct server *server, struct ssl_ctx_st *tls);

struct server_live server_live(const struct server *server);

/* Stops accepting, sends GOAWAY twice as gRPC does; calls begun so far go on. on_drained is called
 * (once, from the loop) when the last connection is gone. */
void server_drain(struct server *server, void (*on_drained)(void *owner));
/* Cuts what is left and NULLs the pointer. on_gone is called for open exchanges, from the loop, at
 * the latest by loop_free: the owner lives until then. Besides it only on_disconnect comes. */
void server_close(struct server **server);

/* Inside on_open: a unary call. on_message comes once and not before the client has finished; no
 * message or a second one is answered with INTERNAL here. */
void exchange_expect_unary(struct exchange *exchange);
/* A streaming client is slowed down while `hold` is set: its window is not opened again. */
void exchange_hold_input(struct exchange *exchange, bool hold);
/* Bytes of answers that the client has not taken yet: a streaming answer waits when it is large.
 * Asked from a timer or before each exchange_send. */
size_t exchange_unsent(const struct exchange *exchange);

/* Value of a metadata key in the request headers (lower case, borrowed until the exchange ends);
 * len 0 and ptr NULL when absent. */
struct slice exchange_metadata(const struct exchange *exchange, const char *key);
const struct exchange_head *exchange_head(const struct exchange *exchange);
/* "ip:port" of the client, for logs. */
const char *exchange_peer(const struct exchange *exchange);

/* The user's pointer for this exchange. */
void exchange_set_user(struct exchange *exchange, void *user /* borrow */);
void *exchange_user(const struct exchange *exchange);

/* Adds a trailer that goes out with the end of the call; ASCII value; both copied. */
void exchange_trailer(struct exchange *exchange, const char *key, const char *value);
/* Sends one message (its bytes without the prefix; taken, left empty). Streaming calls may do so
 * repeatedly. Its charge must be one of this thread, or NULL: it moves to the server's. */
void exchange_send(struct exchange *exchange, struct chain *message /* take */);
/* Ends the call: NULL or code NONE = OK. After it the exchange must not be used. */
void exchange_finish(struct exchange *exchange, const struct error *status);
/* exchange_send + exchange_finish(OK). */
void exchange_respond(struct exchange *exchange, struct chain *message /* take */);
