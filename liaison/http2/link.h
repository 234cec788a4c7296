// SPDX-License-Identifier: Apache-2.0
/*
 * The gRPC client side: a link is one HTTP/2 connection to one address, a call is one RPC on it.
 *
 * A link lives through one connection: CONNECTING → READY → (DRAINING →) CLOSED. Who wants to
 * reconnect opens a new one. Calls may be opened while it is CONNECTING or READY. All events come
 * from the loop, never from inside a function that the user called.
 */
#pragma once

#include "frame/chain.h"
#include "frame/error.h"
#include "frame/msg.h"
#include "liaison/loop.h"

struct link;
struct call;
struct ssl_ctx_st;

enum link_state {
    LINK_CONNECTING, /* name, connect, TLS, until the peer's SETTINGS; guarded by connect_timeout */
    LINK_READY,      /* calls run */
    LINK_DRAINING,   /* the peer sent GOAWAY: no new calls, those begun go on */
    LINK_CLOSED,     /* nothing works any more; free it */
};

struct link_options {
    const char *address;    /* borrow during link_open: "host:port", "[v6]:port" */
    struct ssl_ctx_st *tls; /* borrow; NULL = clear text. Host name and SNI: the host part */
    const char *tls_switch; /* borrow: static, or as long as the link; how TLS is turned on and off
                               here, for errors ("--data-client-tls"); NULL = they do not say */
    uint64_t connect_timeout_ms; /* 0 = 5,000 */
    size_t max_message_bytes;    /* of one answer */
    uint32_t window_bytes;       /* both levels; 0 = 32 MiB and a bit */
    struct charge *charge;       /* borrow: wire buffers and what is sent; outlives the link */
    struct link_live *live;      /* borrow: outlives the loop's last turn; NULL = not counted */
};

/* What is alive, until it is reaped; shared by as many links as one likes, on one thread. */
struct link_live {
    size_t links;
    size_t calls;
};

struct link_events {
    /* READY, DRAINING or CLOSED (then why tells). May be NULL. */
    void (*on_state)(void *owner, struct link *link, enum link_state state,
                     const struct error *why);
};

/* Never NULL: what fails is told through on_state(CLOSED). */
struct link *link_open(struct loop *loop, const struct link_options *options,
                       const struct link_events *events, void *owner /* borrow */);
enum link_state link_state(const struct link *link);
size_t link_calls(const struct link *link);
/* loop_now when the peer last showed life: bytes of whatever came, or lie unread; 0 = never. */
uint64_t link_heard_at(const struct link *link);
/* Ends open calls with UNAVAILABLE (their on_end comes from the loop); no on_state any more. */
void link_close(struct link **link);
/* The same; its calls end with `why`, unless the connection had failed already and they end with
 * that. */
void link_fail(struct link **link, const struct error *why);

struct call_events {
    void (*on_message)(void *owner, struct call *call, struct msg *msg /* take */);
    /* Once, last: the RPC's status; code NONE = OK. The call must not be used afterwards. */
    void (*on_end)(void *owner, struct call *call, const struct error *status);
};

struct call_options {
    const char *path;  /* borrow during call_open */
    uint64_t deadline; /* loop_now's clock, 0 = none: sent as grpc-timeout and enforced here */
    const char *metadata[8]; /* borrow during call_open: key, value, key, value, NULL */
    struct charge *charge;   /* borrow: pays for received messages; outlives the call's messages */
    /* Asked before a message of this declared size is received, with what it begins with (inbox.h);
     * false refuses it and ends the call with err. NULL = only the link's limit. */
    bool (*admit)(void *owner, size_t declared, struct slice head, struct error *err);
};

/* Opens the RPC. Never NULL; a link that cannot take it ends the call through on_end. */
struct call *call_open(struct link *link, const struct call_options *options,
                       const struct call_events *events, void *owner /* borrow */);
/* Inside on_end: the peer itself has said this status; otherwise it is what was found here. */
bool call_status_is_theirs(const struct call *call);
/* Inside on_end: the peer said GOAWAY while the call waited for one of the streams that it allows,
 * and the request was complete. Then the same RPC can go on over another link, with the same
 * events. */
bool call_is_unsent(const struct call *call);
struct call *call_resend(struct call *unsent, struct link *link,
                         const struct call_options *options);
/* Sends one message (copied); `last` half-closes. */
void call_send(struct call *call, struct slice message, bool last);
/* Nothing more will be sent. A no-op after `last`. */
void call_half_close(struct call *call);
/* A streaming node is slowed down while `hold` is set: its window is not opened again. */
void call_hold_input(struct call *call, bool hold);
/* Bytes that the node has not taken yet. */
size_t call_unsent(const struct call *call);
/* A trailer of the answer, inside on_end; a header of it, inside on_message or on_end. ptr NULL
 * when absent. Borrowed until the event returns. */
struct slice call_trailer(const struct call *call, const char *key);
struct slice call_header(const struct call *call, const char *key);
/* RST_STREAM(CANCEL), NULLs the pointer; no event comes any more. NULL is a no-op. */
void call_cancel(struct call **call);
