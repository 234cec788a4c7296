// SPDX-License-Identifier: Apache-2.0
/*
 * The life of one RPC on the client's side. It ends by the first of: trailers, a reset, a broken
 * answer, the deadline, the link's end, the user's cancel. From then on nghttp2 does not find it
 * any more, whatever still comes for its stream.
 */
#include "liaison/http2/call.h"

#include "liaison/container_of.h"
#include "liaison/http2/fields.h"
#include "liaison/own.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#define USER_AGENT "bydb-liaison"

static void set_state(struct call *call, enum call_state state)
{
    assert(state > call->state); /* only forward */
    call->state = state;
}

/* The end */

static void call_free(void *object)
{
    struct call *call = object;
    if (call->host->live != NULL) {
        call->host->live->calls--;
    }
    charge_drop(call->host->h2.charge, CHARGE_WIRE, sizeof *call);
    loop_timer_fini(&call->deadline);
    headers_fini(&call->trailers);
    chain_fini(&call->unsent);
    stream_fini(&call->stream);
    free(call);
}

/* Both sides have said their last word: nghttp2 closes the stream by itself. */
static bool is_over(const struct call *call)
{
    return call->answered &&
           nghttp2_session_get_stream_local_close(call->host->h2.session, call->stream.id) == 1;
}

/* Off the link; what nghttp2 still has of the stream is reset. */
static void leave(struct call *call, uint32_t http2_code)
{
    set_state(call, CALL_ENDED);
    loop_timer_stop(&call->deadline);
    TAILQ_REMOVE(&call->host->calls, call, next);
    call->host->call_count--;
    if (call->stream.id >= 0 && !h2_is_closed(&call->host->h2) && !is_over(call)) {
        stream_reset(&call->stream, http2_code);
    }
    stream_close(&call->stream);
    loop_reap(call->host->h2.loop, call, call_free);
}

static void end_with(struct call *call, uint32_t http2_code, const struct error *status)
{
    leave(call, http2_code);
    call->events.on_end(call->owner, call, status);
}

void call_end(struct call *call, const struct error *status)
{
    end_with(call, NGHTTP2_CANCEL, status);
}

static void on_failing(struct loop_task *task)
{
    struct call *call = container_of(task, struct call, failing);
    if (call->state == CALL_FAILING) {
        end_with(call, NGHTTP2_CANCEL, &call->status);
    }
}

void call_fail_later(struct call *call, const struct error *status)
{
    if (call->state == CALL_OPEN) {
        set_state(call, CALL_FAILING);
        call->status = *status;
        loop_defer(call->host->h2.loop, &call->failing);
    }
}

static void on_deadline(struct loop_timer *timer)
{
    struct call *call = container_of(timer, struct call, deadline);
    if (call->state == CALL_OPEN) {
        struct error status;
        error_set(&status, ERROR_DEADLINE_EXCEEDED, "the deadline of the call has passed");
        end_with(call, NGHTTP2_CANCEL, &status);
    }
}

/* The answer */

struct headers *call_block(struct call *call, bool last)
{
    return last ? &call->trailers : &call->stream.headers;
}

static void finish(struct call *call)
{
    struct error status;
    struct error err;
    call->answered = true;
    call->status_is_theirs = grpc_read_status(&call->trailers, call->http_status, &status);
    if (status.code == ERROR_NONE && !inbox_end(&call->stream.inbox, &err)) {
        status = err;
        call->status_is_theirs = false;
    }
    end_with(call, NGHTTP2_NO_ERROR, &status);
}

void call_on_block(struct call *call, bool last)
{
    if (call->state != CALL_OPEN) {
        return;
    }
    if (!last && grpc_is_informational(&call->stream.headers)) {
        headers_clear(&call->stream.headers);
        return;
    }
    struct error status;
    if (call->http_status == 0 &&
        !grpc_read_response(call_block(call, last), &call->http_status, &status)) {
        end_with(call, NGHTTP2_CANCEL, &status);
        return;
    }
    if (last) {
        finish(call);
        return;
    }
    call->stream.inbox.encoding = headers_get(&call->stream.headers, "grpc-encoding");
}

void call_on_data(struct call *call, struct slice chunk)
{
    struct error status;
    struct msg *msg;
    stream_consume(&call->stream, chunk.len);
    while (call->state == CALL_OPEN) {
        switch (inbox_feed(&call->stream.inbox, &chunk, &msg, &status)) {
        case INBOX_NEED_MORE:
            return;
        case INBOX_MESSAGE:
            call->events.on_message(call->owner, call, msg);
            break;
        case INBOX_BROKEN:
            end_with(call, NGHTTP2_CANCEL, &status);
            return;
        }
    }
}

void call_on_data_end(struct call *call)
{
    if (call->state == CALL_OPEN) {
        finish(call); /* no trailers came: the status says so */
    }
}

/* Told later: the user may close the link, which nghttp2 must not see in here (link_session.c). */
void call_on_stream_close(struct call *call, uint32_t http2_code)
{
    if (call->state != CALL_OPEN) {
        return;
    }
    struct error status;
    const bool refused = http2_code == NGHTTP2_REFUSED_STREAM;
    error_set(&status, grpc_code_of_reset(http2_code), "the peer %s the call (%s)%s",
              refused ? "did not take" : "reset", nghttp2_http2_strerror(http2_code),
              refused ? ": it was not processed, a retry is safe" : "");
    call->stream.id = -1;
    call_fail_later(call, &status);
}

/* Its HEADERS wait in nghttp2: the peer allows no more streams at a time. */
static bool waits_for_stream(const struct call *call)
{
    return call->stream.id >= 0 &&
           nghttp2_session_find_stream(call->host->h2.session, call->stream.id) == NULL;
}

void call_on_goaway(struct call *call, int32_t last_id, const struct error *why)
{
    const bool waits = call->state == CALL_OPEN && waits_for_stream(call);
    if (waits && call->stream.out_complete) {
        chain_move(&call->stream.out, &call->unsent);
    }
    if (waits || call->stream.id > last_id) {
        call_fail_later(call, why);
    }
}

/* The request */

static void add_metadata(struct fields *fields, const struct call_options *options)
{
    const size_t room = sizeof options->metadata / sizeof *options->metadata;
    for (size_t i = 0; i + 1 < room && options->metadata[i] != NULL; i += 2) {
        fields_add_text(fields, options->metadata[i], options->metadata[i + 1]);
    }
}

/* `timeout` is borrowed by the fields. */
static void add_head(struct fields *fields, const struct call *call,
                     const struct call_options *options, char timeout[GRPC_TIMEOUT_CHARS])
{
    const struct call_host *host = call->host;
    fields_add_text(fields, ":method", "POST");
    fields_add_text(fields, ":scheme", host->scheme);
    fields_add_text(fields, ":path", options->path);
    fields_add_text(fields, ":authority", host->authority);
    fields_add_text(fields, "te", "trailers");
    fields_add_text(fields, "content-type", "application/grpc");
    fields_add_text(fields, "user-agent", USER_AGENT);
    if (options->deadline != 0) {
        grpc_format_timeout(options->deadline - loop_now(host->h2.loop), timeout);
        fields_add_text(fields, "grpc-timeout", timeout);
    }
    add_metadata(fields, options);
}

static bool submit(struct call *call, const struct call_options *options, struct error *err)
{
    struct fields fields;
    char timeout[GRPC_TIMEOUT_CHARS];
    fields_init(&fields);
    add_head(&fields, call, options, timeout);
    const nghttp2_data_provider body = stream_provider(&call->stream);
    const int32_t id = nghttp2_submit_request(call->host->h2.session, NULL, fields.list, fields.len,
                                              &body, &call->stream);
    if (id < 0) {
        return error_set(err, ERROR_UNAVAILABLE, "cannot open a stream: %s", nghttp2_strerror(id));
    }
    call->stream.id = id;
    return true;
}

static struct call *call_new(struct call_host *host, const struct call_options *options,
                             const struct call_events *events, void *owner)
{
    struct call *call = own_array(1, sizeof *call);
    call->host = host;
    call->events = *events;
    call->owner = owner;
    call->failing.run = on_failing;
    stream_init(&call->stream, &host->h2, CALL_HEADER_BYTES_MAX, host->max_message_bytes,
                options->charge);
    charge_add(host->h2.charge, CHARGE_WIRE, sizeof *call);
    call->stream.inbox.admit = options->admit;
    call->stream.inbox.owner = owner;
    headers_init(&call->trailers, CALL_HEADER_BYTES_MAX, host->h2.charge);
    chain_init(&call->unsent, host->h2.charge);
    loop_timer_init(&call->deadline, host->h2.loop, on_deadline);
    TAILQ_INSERT_TAIL(&host->calls, call, next);
    host->call_count++;
    if (host->live != NULL) {
        host->live->calls++;
    }
    return call;
}

/* True: it is on its way. */
static bool begin(struct call *call, const struct call_options *options, struct error *err)
{
    const struct call_host *host = call->host;
    if (options->deadline != 0 && options->deadline <= loop_now(host->h2.loop)) {
        return error_set(err, ERROR_DEADLINE_EXCEEDED, "the deadline had passed before the call");
    }
    if (h2_is_closed(&host->h2)) {
        *err = host->h2.why;
        return false;
    }
    if (host->leaving) {
        return error_set(err, ERROR_UNAVAILABLE,
                         "the peer is leaving (GOAWAY), nothing was sent: a retry is safe");
    }
    return submit(call, options, err);
}

struct call *call_open(struct link *link, const struct call_options *options,
                       const struct call_events *events, void *owner)
{
    struct call_host *host = link_host(link);
    struct call *call = call_new(host, options, events, owner);
    struct error err;
    if (!begin(call, options, &err)) {
        call_fail_later(call, &err);
        return call;
    }
    if (options->deadline != 0) {
        loop_timer_start_at(&call->deadline, options->deadline);
    }
    h2_request_flush(&host->h2);
    return call;
}

bool call_status_is_theirs(const struct call *call)
{
    return call->status_is_theirs;
}

bool call_is_unsent(const struct call *call)
{
    return call->unsent.len > 0;
}

struct call *call_resend(struct call *unsent, struct link *link, const struct call_options *options)
{
    struct call *call = call_open(link, options, &unsent->events, unsent->owner);
    if (call->state == CALL_OPEN) {
        chain_move(&unsent->unsent, &call->stream.out);
        stream_complete(&call->stream);
    }
    return call;
}

/* The user's side */

void call_send(struct call *call, struct slice message, bool last)
{
    assert(call->state != CALL_ENDED);
    if (call->state != CALL_OPEN) {
        return;
    }
    struct chain chain;
    chain_init(&chain, call->host->h2.charge);
    chain_append(&chain, message);
    stream_send(&call->stream, &chain);
    if (last) {
        stream_complete(&call->stream);
    }
}

void call_half_close(struct call *call)
{
    assert(call->state != CALL_ENDED);
    if (call->state == CALL_OPEN && !call->stream.out_complete) {
        stream_complete(&call->stream);
    }
}

void call_hold_input(struct call *call, bool hold)
{
    stream_hold_input(&call->stream, hold);
}

size_t call_unsent(const struct call *call)
{
    return call->stream.out.len;
}

struct slice call_trailer(const struct call *call, const char *key)
{
    return headers_get(&call->trailers, key);
}

struct slice call_header(const struct call *call, const char *key)
{
    return headers_get(&call->stream.headers, key);
}

void call_cancel(struct call **call)
{
    struct call *cancelled = *call;
    *call = NULL;
    if (cancelled != NULL) {
        assert(cancelled->state != CALL_ENDED);
        leave(cancelled, NGHTTP2_CANCEL);
    }
}
