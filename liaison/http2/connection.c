// SPDX-License-Identifier: Apache-2.0
/*
 * nghttp2 does the protocol and refuses what breaks it. Added here: a client that sends no SETTINGS
 * is cut, so that half-open connections do not pile up; one that sends nothing but PINGs is told to
 * calm down; and the two-step GOAWAY that loses no call.
 */
#include "liaison/http2/connection.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define SETTINGS_TIMEOUT_MS 20000
#define DRAIN_PING_MS       1000
#define PINGS_MAX           1000
#define STREAM_WINDOW       (1 << 20)
#define CONNECTION_WINDOW   (8 << 20)
#define HEADER_LIST_BYTES   (64 << 10)
#define RESET_BURST         2000 /* RST_STREAMs of a client that are fine at once, */
#define RESET_RATE          200  /* and for each second */

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static struct connection *of_h2(void *user)
{
    return container_of((struct h2 *)user, struct connection, h2);
}

/* What nghttp2 calls. While a callback has closed the connection the rest of the input is void. */

static int go_on(const struct connection *connection)
{
    return h2_is_closed(&connection->h2) ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static struct exchange *exchange_at(nghttp2_session *session, int32_t stream_id)
{
    /* its stream is the first member */
    return nghttp2_session_get_stream_user_data(session, stream_id);
}

static bool is_request(const nghttp2_frame *frame)
{
    return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct connection *connection = of_h2(user);
    if (go_on(connection) == 0 && is_request(frame)) {
        struct exchange *exchange = exchange_new(connection, frame->hd.stream_id);
        nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, exchange);
        connection->pings = 0;
    }
    return go_on(connection);
}

/* Trailers of a request carry nothing that we need. */
static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                     void *user)
{
    (void)flags;
    struct exchange *exchange = exchange_at(session, frame->hd.stream_id);
    if (exchange != NULL && is_request(frame)) {
        headers_add(&exchange->stream.headers, slice_of(name, name_len),
                    slice_of(value, value_len));
    }
    return go_on(of_h2(user));
}

static int on_data_chunk(nghttp2_session *session, uint8_t flags, int32_t stream_id,
                         const uint8_t *bytes, size_t len, void *user)
{
    (void)flags;
    struct connection *connection = of_h2(user);
    struct exchange *exchange = exchange_at(session, stream_id);
    connection->pings = 0;
    if (exchange == NULL) {
        nghttp2_session_consume_connection(session, len);
    } else {
        exchange_on_data(exchange, slice_of(bytes, len));
    }
    return go_on(connection);
}

static void leave(struct connection *connection)
{
    if (connection->drain == CONNECTION_NOTICED) {
        connection->drain = CONNECTION_LEAVING;
        loop_timer_stop(&connection->guard);
        nghttp2_session *session = connection->h2.session;
        nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE,
                              nghttp2_session_get_last_proc_stream_id(session), NGHTTP2_NO_ERROR,
                              NULL, 0);
        h2_request_flush(&connection->h2);
    }
}

static void on_ping(struct connection *connection, bool ack)
{
    if (ack) {
        leave(connection);
        return;
    }
    if (++connection->pings > PINGS_MAX) {
        struct error why;
        error_set(&why, ERROR_RESOURCE_EXHAUSTED, "too_many_pings: %u without any stream",
                  connection->pings);
        h2_terminate(&connection->h2, NGHTTP2_ENHANCE_YOUR_CALM, &why);
    }
}

static void on_settings(struct connection *connection)
{
    if (connection->drain == CONNECTION_SERVING) {
        loop_timer_stop(&connection->guard);
    }
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct connection *connection = of_h2(user);
    switch (frame->hd.type) {
    case NGHTTP2_PING:
        on_ping(connection, (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0);
        return go_on(connection);
    case NGHTTP2_SETTINGS:
        on_settings(connection);
        return go_on(connection);
    }
    struct exchange *exchange = exchange_at(session, frame->hd.stream_id);
    if (exchange == NULL) {
        return go_on(connection);
    }
    if (is_request(frame)) {
        exchange_on_head(exchange);
    }
    const bool ends = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (ends && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        exchange_on_half_close(exchange);
    }
    return go_on(connection);
}

static int on_frame_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    (void)user;
    const bool ends = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (ends && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        struct exchange *exchange = exchange_at(session, frame->hd.stream_id);
        if (exchange != NULL) {
            exchange_on_end_sent(exchange);
        }
    }
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream_id, uint32_t http2_code,
                           void *user)
{
    struct connection *connection = of_h2(user);
    struct exchange *exchange = exchange_at(session, stream_id);
    if (exchange != NULL) {
        struct error why;
        error_set(&why, ERROR_CANCELLED, "the client cancelled the call (%s)",
                  nghttp2_http2_strerror(http2_code));
        exchange_on_closed(exchange, &why);
    }
    return go_on(connection);
}

static int on_complaint(nghttp2_session *session, int code, const char *text, size_t len,
                        void *user)
{
    (void)session;
    (void)code;
    h2_note(user, text, len);
    return 0;
}

static nghttp2_session_callbacks *make_callbacks(void)
{
    nghttp2_session_callbacks *callbacks;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) {
        abort();
    }
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_error_callback2(callbacks, on_complaint);
    stream_set_callbacks(callbacks);
    return callbacks;
}

static nghttp2_option *make_options(void)
{
    nghttp2_option *option;
    if (nghttp2_option_new(&option) != 0) {
        abort();
    }
    nghttp2_option_set_no_auto_window_update(option, 1);
#ifdef HAVE_NGHTTP2_RESET_RATE_LIMIT
    nghttp2_option_set_stream_reset_rate_limit(option, RESET_BURST, RESET_RATE);
#endif
#ifdef HAVE_NGHTTP2_MAX_CONTINUATIONS
    nghttp2_option_set_max_continuations(option, 8);
#endif
    return option;
}

static void greet(nghttp2_session *session, uint32_t max_concurrent_streams)
{
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, max_concurrent_streams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEADER_LIST_BYTES},
    };
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings,
                            sizeof settings / sizeof settings[0]);
    nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW);
}

static nghttp2_session *session_new(struct h2 *h2)
{
    nghttp2_session *session;
    nghttp2_session_callbacks *callbacks = make_callbacks();
    nghttp2_option *option = make_options();
    if (nghttp2_session_server_new2(&session, callbacks, h2, option) != 0) {
        abort();
    }
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return session;
}

/* Life */

static void connection_free(void *object)
{
    struct connection *connection = object;
    connection->settings->live->connections--;
    charge_drop(connection->settings->charge, CHARGE_WIRE, sizeof *connection);
    h2_fini(&connection->h2);
    loop_timer_fini(&connection->guard);
    loop_timer_fini(&connection->stall_watch);
    free(connection);
}

static void on_h2_open(struct h2 *h2)
{
    (void)h2;
}

static void on_h2_closed(struct h2 *h2, const struct error *why)
{
    struct connection *connection = of_h2(h2);
    const struct connection_settings *settings = connection->settings;
    loop_timer_stop(&connection->guard);
    loop_timer_stop(&connection->stall_watch);
    while (!TAILQ_EMPTY(&connection->exchanges)) {
        exchange_on_closed(TAILQ_FIRST(&connection->exchanges), why);
    }
    settings->on_closed(settings->server, connection);
    if (settings->events->on_disconnect != NULL) {
        settings->events->on_disconnect(settings->owner, connection->peer, why);
    }
    loop_reap(settings->loop, connection, connection_free);
}

static const struct h2_events h2_events = {.on_open = on_h2_open, .on_closed = on_h2_closed};

static void on_guard(struct loop_timer *timer)
{
    struct connection *connection = container_of(timer, struct connection, guard);
    if (connection->drain == CONNECTION_NOTICED) {
        leave(connection);
        return;
    }
    struct error why;
    error_set(&why, ERROR_DEADLINE_EXCEEDED, "no HTTP/2 SETTINGS within %d ms",
              SETTINGS_TIMEOUT_MS);
    h2_close(&connection->h2, &why);
}

static void on_stall_watch(struct loop_timer *timer)
{
    struct connection *connection = container_of(timer, struct connection, stall_watch);
    const uint64_t timeout_ns = connection->settings->stall_timeout_ms * 1000000;
    const uint64_t now = loop_now(connection->h2.loop);
    bool waiting = false;
    if (h2_is_blocked(&connection->h2) && now - connection->h2.moved_at >= timeout_ns) {
        struct error why;
        error_set(&why, ERROR_UNAVAILABLE, "the client took no bytes for %llu ms",
                  (unsigned long long)connection->settings->stall_timeout_ms);
        h2_close(&connection->h2, &why);
        return;
    }
    struct exchange *exchange;
    TAILQ_FOREACH (exchange, &connection->exchanges, next) {
        waiting |= exchange_check_stall(exchange, now, timeout_ns);
    }
    if (waiting || h2_is_blocked(&connection->h2)) {
        connection_watch_stall(connection);
    }
}

void connection_watch_stall(struct connection *connection)
{
    const uint64_t timeout_ms = connection->settings->stall_timeout_ms;
    if (timeout_ms > 0 && !loop_timer_is_running(&connection->stall_watch)) {
        loop_timer_start(&connection->stall_watch, timeout_ms / 4 + 1);
    }
}

struct connection *connection_open(const struct connection_settings *settings, int fd,
                                   struct ssl_st *ssl, const char *peer)
{
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) {
        abort();
    }
    connection->settings = settings;
    snprintf(connection->peer, sizeof connection->peer, "%s", peer);
    TAILQ_INIT(&connection->exchanges);
    h2_init(&connection->h2, settings->loop, &h2_events, session_new(&connection->h2),
            settings->charge);
    loop_timer_init(&connection->guard, settings->loop, on_guard);
    loop_timer_init(&connection->stall_watch, settings->loop, on_stall_watch);
    settings->live->connections++;
    charge_add(settings->charge, CHARGE_WIRE, sizeof *connection);
    greet(connection->h2.session, settings->max_concurrent_streams);
    loop_timer_start(&connection->guard, SETTINGS_TIMEOUT_MS);
    h2_attach(&connection->h2, fd, ssl);
    return connection;
}

void connection_drain(struct connection *connection)
{
    if (connection->drain != CONNECTION_SERVING) {
        return;
    }
    connection->drain = CONNECTION_NOTICED;
    nghttp2_submit_shutdown_notice(connection->h2.session);
    nghttp2_submit_ping(connection->h2.session, NGHTTP2_FLAG_NONE, NULL);
    h2_request_flush(&connection->h2);
    loop_timer_start(&connection->guard, DRAIN_PING_MS);
}

void connection_cut(struct connection *connection, const struct error *why)
{
    h2_close(&connection->h2, why);
}
