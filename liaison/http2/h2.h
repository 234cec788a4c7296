// SPDX-License-Identifier: Apache-2.0
/*
 * One nghttp2 session on one socket, for both roles: the pump between them.
 *
 *     socket ─ read 256 KB ─▶ nghttp2_session_mem_recv ─▶ the owner's nghttp2 callbacks
 *     socket ◀─ one writev ── gather ◀─ nghttp2_session_mem_send     (requested, once per turn)
 *
 * The session exists from the start, so streams may be submitted before there is a socket. The
 * owner's nghttp2 callbacks get the struct h2 as user data. A callback that made the owner close or
 * terminate ends with NGHTTP2_ERR_CALLBACK_FAILURE (h2_verdict): the rest of the input is void.
 */
#pragma once

#include "frame/error.h"
#include "liaison/http2/gather.h"
#include "liaison/http2/io.h"
#include "liaison/http2/ledger.h"
#include "liaison/loop.h"

#include <nghttp2/nghttp2.h>

/* IDLE → HANDSHAKING → OPEN → LINGERING → CLOSED; CLOSED from each of them. */
enum h2_state {
    H2_IDLE,        /* no socket yet; the owner's timer guards it */
    H2_HANDSHAKING, /* TLS; the owner's timer guards it */
    H2_OPEN,        /* bytes go both ways; TCP_USER_TIMEOUT and the owner guard it */
    H2_LINGERING,   /* all is said; eats input until the peer closes, a second at most */
    H2_CLOSED,      /* the socket is gone */
};

struct h2;

/* Once, from the loop; `why` is never of code NONE. */
typedef void h2_closed(struct h2 *h2, const struct error *why);

/* Embedded by its owner, who finds himself through container_of. Read it, write it not. */
struct h2 {
    struct loop *loop; /* borrow */
    h2_closed *on_closed;
    struct charge *charge; /* borrow: outlives it; may be NULL */
    struct ledger ledger;
    nghttp2_session *session; /* own */
    struct io io;
    struct event readable;
    struct event writable;
    struct gather *gather; /* own; NULL while nothing waits to be written */
    struct loop_task flush;
    struct loop_task reread; /* TLS holds decrypted bytes that no readiness will tell of */
    struct loop_timer linger;
    enum h2_state state;
    bool terminated;   /* h2_terminate was called: nothing is read any more */
    uint64_t moved_at; /* loop_now when the socket last took bytes or had nothing to take */
    uint64_t heard_at; /* loop_now when bytes were last read; 0 = never */
    struct error why;  /* the first reason to end, if one was given */
    char note[160];    /* what nghttp2 last complained about */
};

/* Then, at once, h2_use. */
void h2_init(struct h2 *h2, struct loop *loop, h2_closed *on_closed, struct charge *charge);
/* Takes the session, made with h2's ledger and h2 as user data. */
void h2_use(struct h2 *h2, nghttp2_session *session);
/* On the reap list's turn; not from a callback. */
void h2_fini(struct h2 *h2);

/* IDLE: goes on with this connected socket. Takes fd. */
void h2_attach(struct h2 *h2, int fd, const struct io_tls *tls);
/* What nghttp2 has to say leaves at the end of this turn. */
void h2_request_flush(struct h2 *h2);
/* Writes `frame_header` and the first `len` bytes of the chain; for nghttp2's send_data callback,
 * whose result it returns. */
int h2_send_data(struct h2 *h2, const uint8_t *frame_header, struct chain *chain, size_t len);
/* nghttp2's error callback: the text goes into the reason if the session ends of itself. */
int h2_note(nghttp2_session *session, int code, const char *text, size_t len, void *user);
/* Bytes wait because the socket takes no more. */
bool h2_is_blocked(const struct h2 *h2);
bool h2_is_closed(const struct h2 *h2);
/* loop_now when the peer last showed life: bytes came, or lie in the socket unread; 0 = never. */
uint64_t h2_heard_at(const struct h2 *h2);
/* What a callback of nghttp2 returns: 0, or that nothing may follow. */
int h2_verdict(const struct h2 *h2);

/* Says GOAWAY with this code and a text, then lingers and closes. Keeps the first `why`. */
void h2_terminate(struct h2 *h2, uint32_t http2_code, const struct error *why);
/* Closes at once; on_closed is called before it returns. For loop callbacks. */
void h2_close(struct h2 *h2, const struct error *why);
/* The same without on_closed. */
void h2_cut(struct h2 *h2);
