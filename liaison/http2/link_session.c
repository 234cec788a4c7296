// SPDX-License-Identifier: Apache-2.0
/* Each callback of nghttp2 finds the call and hands on. Windows are given back by stream_consume.
 */
#include "liaison/http2/link_session.h"

#include "liaison/container_of.h"
#include "liaison/http2/call.h"

#include <stddef.h>
#include <stdlib.h>

static struct call_host *host_of(struct h2 *h2)
{
    return container_of(h2, struct call_host, h2);
}

static struct call *call_at(nghttp2_session *session, int32_t stream_id)
{
    /* its stream is the first member */
    return nghttp2_session_get_stream_user_data(session, stream_id);
}

static bool is_last(const nghttp2_frame *frame)
{
    return (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
}

// NOLINTNEXTLINE(readability-function-size): nghttp2's signature
static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                     void *user)
{
    (void)flags;
    struct call *call = call_at(session, frame->hd.stream_id);
    if (call != NULL) {
        headers_add(call_block(call, is_last(frame)), slice_of(name, name_len),
                    slice_of(value, value_len));
    }
    return h2_verdict(user);
}

// NOLINTNEXTLINE(readability-function-size): nghttp2's signature
static int on_data_chunk(nghttp2_session *session, uint8_t flags, int32_t stream_id,
                         const uint8_t *bytes, size_t len, void *user)
{
    (void)flags;
    struct call *call = call_at(session, stream_id);
    if (call == NULL) {
        nghttp2_session_consume_connection(session, len);
    } else {
        call_on_data(call, slice_of(bytes, len));
    }
    return h2_verdict(user);
}

/* Calls above the last id were not looked at, those that wait for a stream get none any more: they
 * end at once, not when nghttp2 gets to them, which a call that goes on can hold up for ever. */
static void on_goaway(struct call_host *host, const nghttp2_goaway *goaway)
{
    struct error why;
    struct call *call;
    error_set(&why, ERROR_UNAVAILABLE,
              "the peer is leaving (GOAWAY) and did not process this call: a retry is safe");
    TAILQ_FOREACH (call, &host->calls, next) {
        call_on_goaway(call, goaway->last_stream_id, &why);
    }
    host->leaving = true;
    error_set(&why, ERROR_UNAVAILABLE, "the peer said GOAWAY (%s)%s%.*s",
              nghttp2_http2_strerror(goaway->error_code), goaway->opaque_data_len > 0 ? ": " : "",
              SLICE_ARG(slice_of(goaway->opaque_data, goaway->opaque_data_len)));
    host->on_leaving(host, &why);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct call *call = call_at(session, frame->hd.stream_id);
    if (frame->hd.type == NGHTTP2_SETTINGS) {
        host_of(user)->on_greeting(host_of(user));
    } else if (frame->hd.type == NGHTTP2_GOAWAY) {
        on_goaway(host_of(user), &frame->goaway);
    } else if (call != NULL && frame->hd.type == NGHTTP2_HEADERS) {
        call_on_block(call, is_last(frame));
    } else if (call != NULL && frame->hd.type == NGHTTP2_DATA && is_last(frame)) {
        call_on_data_end(call);
    }
    return h2_verdict(user);
}

/* Never fails: nghttp2 before 1.55.1 loses the frame of a request that it cannot send any more,
 * because of a GOAWAY, when this callback of its stream does (CVE-2023-35945). */
static int on_stream_close(nghttp2_session *session, int32_t stream_id, uint32_t http2_code,
                           void *user)
{
    (void)user;
    struct call *call = call_at(session, stream_id);
    if (call != NULL) {
        call_on_stream_close(call, http2_code);
    }
    return 0;
}

static nghttp2_session_callbacks *make_callbacks(void)
{
    nghttp2_session_callbacks *callbacks;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) {
        abort();
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_error_callback2(callbacks, h2_note);
    stream_set_callbacks(callbacks);
    return callbacks;
}

nghttp2_session *link_session_new(struct call_host *host, uint32_t window)
{
    nghttp2_session *session;
    nghttp2_session_callbacks *callbacks = make_callbacks();
    nghttp2_option *option;
    if (nghttp2_option_new(&option) != 0) {
        abort();
    }
    nghttp2_option_set_no_auto_window_update(option, 1);
    if (nghttp2_session_client_new3(&session, callbacks, &host->h2, option,
                                    &host->h2.ledger.allocator) != 0) {
        abort();
    }
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, CALL_HEADER_BYTES_MAX},
    };
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings,
                            sizeof settings / sizeof settings[0]);
    nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, (int32_t)window);
    return session;
}
