// SPDX-License-Identifier: Apache-2.0
/*
 * nghttp2 does the protocol and refuses what breaks it; each callback finds the exchange and hands
 * on. Windows are given back by stream_consume, not by nghttp2.
 */
#include "liaison/http2/server_session.h"

#include "liaison/http2/connection.h"

#include <stdlib.h>

#define ACKS_MAX          20000 /* more PINGs than one read can hold: connection.c counts first */
#define STREAM_WINDOW     (1 << 20)
#define CONNECTION_WINDOW (8 << 20)
#define RESET_BURST       2000 /* RST_STREAMs of a client that are fine at once, */
#define RESET_RATE        200  /* and for each second */
#define CONTINUATIONS_MAX 8

static struct exchange *exchange_at(nghttp2_session *session, int32_t stream_id)
{
    /* its stream is the first member */
    return nghttp2_session_get_stream_user_data(session, stream_id);
}

static bool is_request(const nghttp2_frame *frame)
{
    return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}

static bool ends_stream(const nghttp2_frame *frame)
{
    return (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) &&
           (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    if (h2_verdict(user) == 0 && is_request(frame)) {
        struct connection *connection = connection_of(user);
        struct exchange *exchange = exchange_new(connection, frame->hd.stream_id);
        nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, exchange);
        connection_on_use(connection);
    }
    return h2_verdict(user);
}

/* Trailers of a request carry nothing that we need. */
// NOLINTNEXTLINE(readability-function-size): nghttp2's signature
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
    return h2_verdict(user);
}

// NOLINTNEXTLINE(readability-function-size): nghttp2's signature
static int on_data_chunk(nghttp2_session *session, uint8_t flags, int32_t stream_id,
                         const uint8_t *bytes, size_t len, void *user)
{
    (void)flags;
    struct exchange *exchange = exchange_at(session, stream_id);
    if (exchange == NULL) {
        nghttp2_session_consume_connection(session, len);
    } else {
        connection_on_use(connection_of(user));
        exchange_on_data(exchange, slice_of(bytes, len));
    }
    return h2_verdict(user);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct exchange *exchange = exchange_at(session, frame->hd.stream_id);
    const bool ack = (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0;
    if (frame->hd.type == NGHTTP2_PING) {
        connection_on_ping(connection_of(user), ack);
    } else if (frame->hd.type == NGHTTP2_SETTINGS) {
        connection_on_settings(connection_of(user), ack);
    } else if (exchange != NULL) {
        if (is_request(frame)) {
            exchange_on_head(exchange);
        }
        if (ends_stream(frame)) {
            exchange_on_half_close(exchange);
        }
    }
    return h2_verdict(user);
}

static int on_frame_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    (void)user;
    struct exchange *exchange = exchange_at(session, frame->hd.stream_id);
    if (exchange != NULL && ends_stream(frame)) {
        exchange_on_end_sent(exchange);
    }
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream_id, uint32_t http2_code,
                           void *user)
{
    struct exchange *exchange = exchange_at(session, stream_id);
    if (exchange != NULL) {
        exchange_on_stream_close(exchange, http2_code);
    }
    return h2_verdict(user);
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
    nghttp2_session_callbacks_set_error_callback2(callbacks, h2_note);
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
    nghttp2_option_set_max_outbound_ack(option, ACKS_MAX);
#ifdef HAVE_NGHTTP2_RESET_RATE_LIMIT
    nghttp2_option_set_stream_reset_rate_limit(option, RESET_BURST, RESET_RATE);
#endif
#ifdef HAVE_NGHTTP2_MAX_CONTINUATIONS
    nghttp2_option_set_max_continuations(option, CONTINUATIONS_MAX);
#endif
    return option;
}

static void greet(nghttp2_session *session, uint32_t max_concurrent_streams)
{
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, max_concurrent_streams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, EXCHANGE_HEADER_BYTES_MAX},
    };
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings,
                            sizeof settings / sizeof settings[0]);
    nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW);
}

nghttp2_session *server_session_new(struct h2 *h2, uint32_t max_concurrent_streams)
{
    nghttp2_session *session;
    nghttp2_session_callbacks *callbacks = make_callbacks();
    nghttp2_option *option = make_options();
    if (nghttp2_session_server_new3(&session, callbacks, h2, option, &h2->ledger.allocator) != 0) {
        abort();
    }
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    greet(session, max_concurrent_streams);
    return session;
}
