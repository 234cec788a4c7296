// SPDX-License-Identifier: Apache-2.0
/*
 * nghttp2 pulls: it asks how many bytes a DATA frame may have (read_out), then lets us put them
 * into the gather (send_data). When nothing is there it is told to wait, and resumed by the next
 * message.
 */
#include "liaison/http2/stream.h"

#include <assert.h>

void stream_init(struct stream *stream, struct h2 *h2, size_t max_header_bytes,
                 size_t max_message_bytes, struct charge *charge)
{
    *stream = (struct stream){.h2 = h2, .id = -1, .moved_at = loop_now(h2->loop)};
    headers_init(&stream->headers, max_header_bytes, h2->charge);
    inbox_init(&stream->inbox, max_message_bytes, charge);
    chain_init(&stream->out, h2->charge);
}

static void begin_pace(struct stream *stream)
{
    stream->moved = 0;
    stream->moved_at = loop_now(stream->h2->loop);
}

static void drop_out(struct stream *stream)
{
    gather_shelter(stream->h2->gather, &stream->out);
    chain_fini(&stream->out);
}

void stream_close(struct stream *stream)
{
    if (stream->id >= 0) {
        nghttp2_session_set_stream_user_data(stream->h2->session, stream->id, NULL);
        stream->id = -1;
    }
    drop_out(stream);
    inbox_fini(&stream->inbox);
}

void stream_fini(struct stream *stream)
{
    assert(stream->id < 0);
    headers_fini(&stream->headers);
}

// NOLINTNEXTLINE(readability-function-size,readability-non-const-parameter): nghttp2's signature
static ssize_t read_out(nghttp2_session *session, int32_t id, uint8_t *buf, size_t length,
                        uint32_t *flags, nghttp2_data_source *source, void *user)
{
    (void)buf;
    (void)source;
    (void)user;
    struct stream *stream = nghttp2_session_get_stream_user_data(session, id);
    if (stream == NULL) {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    const size_t waiting = stream->out.len;
    if (waiting == 0 && !stream->out_complete) {
        stream->out_waits = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    length = length < GATHER_FRAME_BYTES ? length : GATHER_FRAME_BYTES;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (waiting <= length && stream->out_complete) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (stream->on_out_complete != NULL) {
            *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
            stream->on_out_complete(stream);
        }
    }
    return (ssize_t)(waiting < length ? waiting : length);
}

// NOLINTNEXTLINE(readability-function-size): nghttp2's signature
static int send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *frame_header,
                     size_t length, nghttp2_data_source *source, void *user)
{
    (void)source;
    struct stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (stream == NULL) {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    stream->moved += length;
    if (stream->moved >= STREAM_PACE) {
        begin_pace(stream);
    }
    return h2_send_data(user, frame_header, &stream->out, length);
}

void stream_set_callbacks(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_send_data_callback(callbacks, send_data);
}

nghttp2_data_provider stream_provider(struct stream *stream)
{
    return (nghttp2_data_provider){.source.ptr = stream, .read_callback = read_out};
}

static void resume(struct stream *stream)
{
    if (stream->out_waits) {
        stream->out_waits = false;
        nghttp2_session_resume_data(stream->h2->session, stream->id);
    }
    h2_request_flush(stream->h2);
}

void stream_send(struct stream *stream, struct chain *message)
{
    assert(!stream->out_complete && message->len <= UINT32_MAX);
    uint8_t prefix[GRPC_PREFIX_BYTES];
    grpc_write_prefix(prefix, (uint32_t)message->len);
    chain_prepend(message, slice_of(prefix, sizeof prefix));
    if (stream->out.len == 0) {
        begin_pace(stream);
    }
    chain_join(message, &stream->out);
    resume(stream);
}

void stream_complete(struct stream *stream)
{
    stream->out_complete = true;
    resume(stream);
}

void stream_drop(struct stream *stream)
{
    drop_out(stream);
    stream->out_complete = true;
    stream->on_out_complete = NULL;
}

void stream_reset(struct stream *stream, uint32_t http2_code)
{
    stream_drop(stream);
    nghttp2_submit_rst_stream(stream->h2->session, NGHTTP2_FLAG_NONE, stream->id, http2_code);
    h2_request_flush(stream->h2);
}

void stream_consume(struct stream *stream, size_t len)
{
    nghttp2_session *session = stream->h2->session;
    if (stream->input_held) {
        stream->input_owed += len;
        nghttp2_session_consume_connection(session, len);
    } else {
        nghttp2_session_consume(session, stream->id, len);
    }
}

void stream_hold_input(struct stream *stream, bool hold)
{
    stream->input_held = hold;
    if (!hold && stream->input_owed > 0) {
        nghttp2_session_consume_stream(stream->h2->session, stream->id, stream->input_owed);
        stream->input_owed = 0;
        h2_request_flush(stream->h2);
    }
}
