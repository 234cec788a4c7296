// SPDX-License-Identifier: Apache-2.0
/*
 * Reading: one buffer full per readiness, so that a busy connection leaves the others their turn.
 * Writing: gather frames until nghttp2 has no more or the gather is full, write, and again; what
 * the socket does not take waits for its readiness, and no frame is made meanwhile.
 */
#include "liaison/http2/h2.h"

#include "liaison/container_of.h"

#include <event2/event.h>

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define LINGER_MS       1000
#define GOAWAY_TEXT_MAX 200
#define FLUSH_ROUNDS    4 /* gathers per turn; each of them about half a megabyte at most */

static void set_state(struct h2 *h2, enum h2_state state)
{
    assert(state > h2->state); /* only forward; every step may be left out */
    h2->state = state;
}

bool h2_is_closed(const struct h2 *h2)
{
    return h2->state == H2_CLOSED;
}

int h2_verdict(const struct h2 *h2)
{
    return h2->state == H2_CLOSED || h2->terminated ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

bool h2_is_blocked(const struct h2 *h2)
{
    return h2->gather != NULL && !gather_is_empty(h2->gather);
}

uint64_t h2_heard_at(const struct h2 *h2)
{
    return io_is_unread(&h2->io) ? loop_now(h2->loop) : h2->heard_at;
}

static void keep_reason(struct h2 *h2, const struct error *why)
{
    if (h2->why.code == ERROR_NONE) {
        h2->why = *why;
    }
}

int h2_note(nghttp2_session *session, int code, const char *text, size_t len, void *user)
{
    struct h2 *h2 = user;
    (void)session;
    (void)code;
    (void)snprintf(h2->note, sizeof h2->note, "%.*s", (int)len, text);
    return 0;
}

static void stop(struct event *event)
{
    if (event_initialized(event)) {
        event_del(event);
    }
}

void h2_cut(struct h2 *h2)
{
    if (h2->state == H2_CLOSED) {
        return;
    }
    set_state(h2, H2_CLOSED);
    stop(&h2->readable);
    stop(&h2->writable);
    loop_timer_stop(&h2->linger);
    gather_free(&h2->gather);
    io_fini(&h2->io);
}

void h2_close(struct h2 *h2, const struct error *why)
{
    if (h2->state == H2_CLOSED) {
        return;
    }
    keep_reason(h2, why);
    h2_cut(h2);
    h2->on_closed(h2, &h2->why);
}

static void fail_nghttp2(struct h2 *h2, const char *what, int code)
{
    struct error why;
    error_set(&why, ERROR_UNAVAILABLE, "%s: %s", what, nghttp2_strerror(code));
    h2_close(h2, &why);
}

/* Writing */

static void linger(struct h2 *h2)
{
    struct error why;
    error_set(&why, ERROR_UNAVAILABLE, "the HTTP/2 session has ended%s%s",
              h2->note[0] == '\0' ? "" : ": ", h2->note);
    keep_reason(h2, &why);
    set_state(h2, H2_LINGERING);
    io_shutdown(&h2->io);
    loop_timer_start(&h2->linger, LINGER_MS);
}

/* False: the connection failed. */
static bool fill(struct h2 *h2)
{
    while (gather_has_room(h2->gather)) {
        const uint8_t *bytes;
        const ssize_t n = nghttp2_session_mem_send(h2->session, &bytes);
        if (h2->state == H2_CLOSED) {
            return false; /* by a callback */
        }
        if (n < 0) {
            fail_nghttp2(h2, "cannot send", (int)n);
            return false;
        }
        if (n == 0) {
            break; /* no more, or h2_send_data has filled the gather */
        }
        gather_copy(h2->gather, slice_of(bytes, (size_t)n));
    }
    return true;
}

/* False: the socket takes no more now, or the connection failed. */
static bool drain(struct h2 *h2)
{
    struct gather *gather = h2->gather;
    while (!gather_is_empty(gather)) {
        struct error err;
        const ssize_t n =
            io_writev(&h2->io, gather->pieces + gather->first, gather->end - gather->first, &err);
        if (n == IO_BROKEN) {
            h2_close(h2, &err);
            return false;
        }
        if (n == IO_AGAIN) {
            event_add(&h2->writable, NULL);
            return false;
        }
        gather_advance(gather, (size_t)n);
        h2->moved_at = loop_now(h2->loop);
    }
    return true;
}

/* Returns true when all is written; false when it goes on later or the connection is gone. */
static bool write_out(struct h2 *h2)
{
    if (!drain(h2)) {
        return false;
    }
    for (int round = 0; round < FLUSH_ROUNDS; round++) {
        if (!fill(h2)) {
            return false;
        }
        if (gather_is_empty(h2->gather)) {
            return true;
        }
        if (!drain(h2)) {
            return false;
        }
    }
    h2_request_flush(h2);
    return false;
}

static void flush(struct h2 *h2)
{
    if (h2->state != H2_OPEN) {
        return;
    }
    if (h2->gather == NULL) {
        h2->moved_at = loop_now(h2->loop);
        h2->gather = gather_new(h2->charge);
    }
    if (!write_out(h2)) {
        return;
    }
    gather_free(&h2->gather);
    if (!nghttp2_session_want_read(h2->session) && !nghttp2_session_want_write(h2->session)) {
        linger(h2);
    }
}

static void on_flush(struct loop_task *task)
{
    struct h2 *h2 = container_of(task, struct h2, flush);
    if (!h2_is_blocked(h2)) {
        flush(h2);
    }
}

void h2_request_flush(struct h2 *h2)
{
    if (h2->state == H2_OPEN) {
        loop_defer_last(h2->loop, &h2->flush);
    }
}

int h2_send_data(struct h2 *h2, const uint8_t *frame_header, struct chain *chain, size_t len)
{
    if (h2->state != H2_OPEN) {
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    gather_copy(h2->gather, slice_of(frame_header, 9));
    gather_take(h2->gather, chain, len);
    return gather_has_room(h2->gather) ? 0 : NGHTTP2_ERR_PAUSE;
}

/* Reading */

static void receive(struct h2 *h2)
{
    struct error err;
    uint8_t *buf = loop_scratch(h2->loop);
    const ssize_t n = io_read(&h2->io, buf, LOOP_SCRATCH, &err);
    if (n == IO_AGAIN) {
        return;
    }
    if (n <= 0) {
        if (n == 0) {
            error_set(&err, ERROR_UNAVAILABLE, "the peer closed the connection");
        }
        h2_close(h2, &err);
        return;
    }
    h2->heard_at = loop_now(h2->loop);
    const ssize_t eaten =
        h2->terminated ? n : nghttp2_session_mem_recv(h2->session, buf, (size_t)n);
    if (h2->state == H2_CLOSED) {
        return; /* by a callback */
    }
    if (eaten < 0 && !h2->terminated) {
        fail_nghttp2(h2, "HTTP/2", (int)eaten);
        return;
    }
    h2_request_flush(h2);
    if (io_has_more(&h2->io)) {
        loop_defer(h2->loop, &h2->reread);
    }
}

static void on_reread(struct loop_task *task)
{
    struct h2 *h2 = container_of(task, struct h2, reread);
    if (h2->state == H2_OPEN) {
        receive(h2);
    }
}

/* Input after the last word is thrown away: closing with unread bytes would make the kernel send a
 * reset, and that can overtake what the peer has not read yet. */
static void discard(struct h2 *h2)
{
    struct error err;
    const ssize_t n = io_read(&h2->io, loop_scratch(h2->loop), LOOP_SCRATCH, &err);
    if (n == 0 || n == IO_BROKEN) {
        h2_close(h2, &h2->why);
    }
}

static void on_linger_over(struct loop_timer *timer)
{
    struct h2 *h2 = container_of(timer, struct h2, linger);
    h2_close(h2, &h2->why);
}

static void handshake(struct h2 *h2)
{
    struct error err;
    switch (io_handshake(&h2->io, &err)) {
    case IO_AGAIN:
        if (io_wants_write(&h2->io)) {
            event_add(&h2->writable, NULL);
        }
        return;
    case IO_BROKEN:
        h2_close(h2, &err);
        return;
    }
    set_state(h2, H2_OPEN);
    h2_request_flush(h2);
}

static void on_readable(evutil_socket_t fd, short what, void *owner)
{
    (void)fd;
    (void)what;
    struct h2 *h2 = owner;
    switch (h2->state) {
    case H2_HANDSHAKING:
        handshake(h2);
        break;
    case H2_OPEN:
        receive(h2);
        break;
    case H2_LINGERING:
        discard(h2);
        break;
    case H2_IDLE:
    case H2_CLOSED:
        assert(false);
    }
}

static void on_writable(evutil_socket_t fd, short what, void *owner)
{
    (void)fd;
    (void)what;
    struct h2 *h2 = owner;
    if (h2->state == H2_HANDSHAKING) {
        handshake(h2);
    } else {
        flush(h2);
    }
}

/* Life */

void h2_init(struct h2 *h2, struct loop *loop, h2_closed *on_closed, struct charge *charge)
{
    *h2 = (struct h2){
        .loop = loop,
        .on_closed = on_closed,
        .charge = charge,
        .io = {.fd = -1},
        .flush = {.run = on_flush},
        .reread = {.run = on_reread},
        .state = H2_IDLE,
    };
    ledger_init(&h2->ledger, charge);
    loop_timer_init(&h2->linger, loop, on_linger_over);
}

void h2_use(struct h2 *h2, nghttp2_session *session)
{
    h2->session = session;
}

void h2_fini(struct h2 *h2)
{
    h2_cut(h2);
    loop_timer_fini(&h2->linger);
    nghttp2_session_del(h2->session);
    h2->session = NULL;
    ledger_fini(&h2->ledger);
}

void h2_attach(struct h2 *h2, int fd, const struct io_tls *tls)
{
    struct event_base *base = loop_base(h2->loop);
    io_init(&h2->io, fd, tls, &h2->ledger);
    set_state(h2, H2_HANDSHAKING);
    event_assign(&h2->readable, base, fd, EV_READ | EV_PERSIST, on_readable, h2);
    event_assign(&h2->writable, base, fd, EV_WRITE, on_writable, h2);
    event_add(&h2->readable, NULL);
    event_add(&h2->writable, NULL); /* the handshake begins from the loop */
}

void h2_terminate(struct h2 *h2, uint32_t http2_code, const struct error *why)
{
    keep_reason(h2, why);
    h2->terminated = true;
    nghttp2_submit_goaway(h2->session, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(h2->session), http2_code,
                          (const uint8_t *)why->text, strnlen(why->text, GOAWAY_TEXT_MAX));
    nghttp2_session_terminate_session(h2->session, http2_code);
    h2_request_flush(h2);
}
