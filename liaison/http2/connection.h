// SPDX-License-Identifier: Apache-2.0
/*
 * One client's connection and its exchanges; watches over what concerns all of them: the client's
 * first SETTINGS, floods, stalls, draining.
 */
#pragma once

#include "liaison/http2/exchange.h"
#include "liaison/http2/h2.h"
#include "liaison/http2/server.h"

/* What all connections of a server share. */
struct connection_settings {
    struct loop *loop;                  /* borrow */
    const struct server_events *events; /* borrow */
    void *owner;                        /* borrow: for events */
    struct server_live *live;           /* borrow: counts */
    struct charge *charge;              /* borrow; may be NULL */
    size_t max_message_bytes;
    uint32_t max_concurrent_streams;
    uint64_t stall_timeout_ms; /* 0 = never */
    uint64_t greeting_timeout_ms;
    /* The connection is off the network; it goes to the reaper right after this. */
    void (*on_closed)(struct server *server, struct connection *connection);
    struct server *server; /* borrow: for on_closed */
};

/* SERVING → NOTICED → LEAVING */
enum connection_drain {
    CONNECTION_SERVING, /* takes every stream */
    CONNECTION_NOTICED, /* GOAWAY with the highest id and a PING went out: its ACK, or a timer */
    CONNECTION_LEAVING, /* GOAWAY with the real last id: ends with its last stream */
};

struct connection {
    struct h2 h2;
    const struct connection_settings *settings; /* borrow: outlives its connections */
    TAILQ_ENTRY(connection) next;               /* in the server's list */
    TAILQ_HEAD(, exchange) exchanges;
    enum connection_drain drain;
    struct loop_timer guard; /* first the client's SETTINGS, later the PING of a drain */
    struct loop_timer stall_watch;
    unsigned idle_frames; /* PING and SETTINGS since a stream was last used */
    char peer[64];        /* "ip:port" */
};

struct connection *connection_of(struct h2 *h2);

/* Takes fd; tls is borrowed, NULL = clear text. */
struct connection *connection_open(const struct connection_settings *settings, int fd,
                                   struct ssl_ctx_st *tls, const char *peer);
/* Says GOAWAY as gRPC does; closes itself when the last stream has ended. */
void connection_drain(struct connection *connection);
/* Cuts it; on_gone for its exchanges. From a loop callback. */
void connection_cut(struct connection *connection, const struct error *why);
/* An answer waits for the client to take it: the stall watch runs until nothing waits. */
void connection_watch_stall(struct connection *connection);

/* From nghttp2. */
void connection_on_use(struct connection *connection); /* a stream begins or gets bytes */
void connection_on_ping(struct connection *connection, bool ack);
void connection_on_settings(struct connection *connection, bool ack);
