// SPDX-License-Identifier: Apache-2.0
/* nghttp2 pulls the messages out of the stream; the trailers are submitted when it has the last. */
#include "liaison/http2/reply.h"

#include "liaison/http2/fields.h"

#include <stddef.h>
#include <stdio.h>

#define ENDING_BYTES_MAX       ((size_t)8 << 10) /* a cut text fits */
#define TRAILERS_BYTES_MAX     ((size_t)16 << 10)
#define UNSUPPORTED_MEDIA_TYPE 415 /* to a client that does not speak gRPC */

static nghttp2_session *session(const struct reply *reply)
{
    return reply->stream->h2->session;
}

static void submit_trailers(struct stream *stream)
{
    const struct reply *reply = stream->reply;
    struct fields fields;
    fields_init(&fields);
    fields_add_headers(&fields, &reply->ending);
    fields_add_headers(&fields, &reply->trailers);
    nghttp2_submit_trailer(session(reply), stream->id, fields.list, fields.len);
}

void reply_init(struct reply *reply, struct stream *stream)
{
    *reply = (struct reply){.stream = stream};
    headers_init(&reply->ending, ENDING_BYTES_MAX, stream->h2->charge);
    headers_init(&reply->trailers, TRAILERS_BYTES_MAX, stream->h2->charge);
    stream->reply = reply;
    stream->on_out_complete = submit_trailers;
}

void reply_fini(struct reply *reply)
{
    headers_fini(&reply->ending);
    headers_fini(&reply->trailers);
}

void reply_trailer(struct reply *reply, const char *key, const char *value)
{
    headers_add(&reply->trailers, slice_str(key), slice_str(value));
}

static void begin(struct reply *reply)
{
    struct fields fields;
    fields_init(&fields);
    fields_add_text(&fields, ":status", "200");
    fields_add_text(&fields, "content-type", "application/grpc");
    const nghttp2_data_provider body = stream_provider(reply->stream);
    nghttp2_submit_response(session(reply), reply->stream->id, fields.list, fields.len, &body);
    reply->begun = true;
}

void reply_send(struct reply *reply, struct chain *message)
{
    if (!reply->begun) {
        begin(reply);
    }
    stream_send(reply->stream, message);
}

/* One HEADERS frame is the whole answer. */
static void send_alone(struct reply *reply, unsigned http_status)
{
    char text[12];
    (void)snprintf(text, sizeof text, "%u", http_status);
    struct fields fields;
    fields_init(&fields);
    fields_add_text(&fields, ":status", text);
    if (http_status != UNSUPPORTED_MEDIA_TYPE) {
        fields_add_text(&fields, "content-type", "application/grpc");
        fields_add_headers(&fields, &reply->ending);
        fields_add_headers(&fields, &reply->trailers);
    }
    nghttp2_submit_response(session(reply), reply->stream->id, fields.list, fields.len, NULL);
    reply->begun = true;
    h2_request_flush(reply->stream->h2);
}

static void set_ending(struct reply *reply, const struct error *status)
{
    if (status == NULL || status->code == ERROR_NONE) {
        headers_add(&reply->ending, slice_str("grpc-status"), slice_str("0"));
        return;
    }
    char code[12];
    char text[GRPC_TEXT_CHARS + 1];
    (void)snprintf(code, sizeof code, "%d", (int)status->code);
    headers_add(&reply->ending, slice_str("grpc-status"), slice_str(code));
    if (grpc_encode_text(status->text, text) > 0) {
        headers_add(&reply->ending, slice_str("grpc-message"), slice_str(text));
    }
}

void reply_finish(struct reply *reply, unsigned http_status, const struct error *status)
{
    set_ending(reply, status);
    if (reply->begun) {
        stream_complete(reply->stream);
    } else {
        send_alone(reply, http_status);
    }
}

void reply_cut(struct reply *reply, const struct error *status)
{
    headers_clear(&reply->ending);
    set_ending(reply, status);
    stream_drop(reply->stream);
    submit_trailers(reply->stream);
    h2_request_flush(reply->stream->h2);
}
