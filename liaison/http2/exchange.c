// SPDX-License-Identifier: Apache-2.0
/*
 * The life of one call on the server: checks what gRPC asks for, tells the user about well-formed
 * calls only, and sees the answer out. Whoever finds the end first (user, client, deadline, a
 * malformed request) sets the state; everybody else looks at it.
 */
#include "liaison/http2/exchange.h"

#include "liaison/container_of.h"
#include "liaison/http2/connection.h"
#include "liaison/own.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

static void set_state(struct exchange *exchange, enum exchange_state state)
{
    assert(state > exchange->state); /* only forward; every step may be left out */
    exchange->state = state;
}

static bool is_users(const struct exchange *exchange)
{
    return exchange->state == EXCHANGE_RECEIVING || exchange->state == EXCHANGE_ANSWERING;
}

static const struct server_events *events(const struct exchange *exchange)
{
    return exchange->connection->settings->events;
}

static void *owner(const struct exchange *exchange)
{
    return exchange->connection->settings->owner;
}

static nghttp2_session *session(const struct exchange *exchange)
{
    return exchange->stream.h2->session;
}

/* The end by this side */

static void finish(struct exchange *exchange, unsigned http_status, const struct error *status)
{
    set_state(exchange, EXCHANGE_FINISHING);
    msg_release(&exchange->held);
    reply_finish(&exchange->reply, http_status, status);
}

static void tell_gone(struct exchange *exchange, const struct error *why)
{
    events(exchange)->on_gone(owner(exchange), exchange, why);
}

static void tell_cut(struct exchange *exchange, const struct error *why)
{
    if (events(exchange)->on_cut != NULL) {
        events(exchange)->on_cut(owner(exchange), exchange, why);
    }
}

/* Ends the call from this side and tells the user, if he knows it. */
static void fail(struct exchange *exchange, const struct error *why)
{
    const bool users = is_users(exchange);
    finish(exchange, 200, why);
    if (users) {
        tell_gone(exchange, why);
    }
}

/* Part of an answer waits, or the status itself: what has been sent cannot be taken back. */
static void give_up(struct exchange *exchange, const struct error *why)
{
    const bool users = is_users(exchange);
    if (users) {
        set_state(exchange, EXCHANGE_FINISHING);
        msg_release(&exchange->held);
    }
    if (exchange->stream.out.len > 0) {
        reply_cut(&exchange->reply, why);
    } else {
        stream_reset(&exchange->stream, NGHTTP2_CANCEL);
    }
    if (users) {
        tell_gone(exchange, why);
    }
}

/* Part of a message came, but no more of it. It may be us who hold it back. */
static bool is_cut_short(const struct exchange *exchange)
{
    return exchange->state == EXCHANGE_RECEIVING && inbox_is_amid(&exchange->stream.inbox) &&
           !exchange->stream.input_held;
}

uint64_t exchange_check_stall(struct exchange *exchange, uint64_t now, uint64_t timeout_ns)
{
    const struct stream *stream = &exchange->stream;
    const unsigned long long ms = timeout_ns / 1000000;
    const bool sends = stream->out.len > 0;
    const bool receives = is_cut_short(exchange);
    struct error why;
    if (sends && now - stream->moved_at >= timeout_ns) {
        error_set(&why, ERROR_RESOURCE_EXHAUSTED,
                  "the client took %zu bytes of the answer in %llu ms, at least %zu are expected; "
                  "%zu were still to be read: read faster, or ask for less",
                  stream->moved, ms, STREAM_PACE, stream->out.len);
        give_up(exchange, &why);
        tell_cut(exchange, &why);
        return UINT64_MAX;
    }
    if (receives && now - stream->came_at >= timeout_ns) {
        error_set(&why, ERROR_DEADLINE_EXCEEDED,
                  "no part of the rest of the request came for %llu ms", ms);
        fail(exchange, &why);
        return UINT64_MAX;
    }
    const uint64_t taken_by = sends ? stream->moved_at + timeout_ns : UINT64_MAX;
    const uint64_t come_by = receives ? stream->came_at + timeout_ns : UINT64_MAX;
    return taken_by < come_by ? taken_by : come_by;
}

static void on_deadline(struct loop_timer *timer)
{
    struct exchange *exchange = container_of(timer, struct exchange, deadline);
    struct error why;
    error_set(&why, ERROR_DEADLINE_EXCEEDED, "the deadline of the call has passed");
    if (is_users(exchange) && exchange->stream.out.len == 0) {
        fail(exchange, &why);
    } else {
        give_up(exchange, &why);
    }
}

/* The request */

struct exchange *exchange_new(struct connection *connection, int32_t stream_id)
{
    const struct connection_settings *settings = connection->settings;
    struct exchange *exchange = own_array(1, sizeof *exchange);
    exchange->connection = connection;
    stream_init(&exchange->stream, &connection->h2, EXCHANGE_HEADER_BYTES_MAX,
                settings->max_message_bytes, settings->charge);
    charge_add(settings->charge, CHARGE_WIRE, sizeof *exchange);
    exchange->stream.id = stream_id;
    exchange->stream.inbox.admit = settings->events->admit;
    exchange->stream.inbox.owner = settings->owner;
    reply_init(&exchange->reply, &exchange->stream);
    loop_timer_init(&exchange->deadline, settings->loop, on_deadline);
    TAILQ_INSERT_TAIL(&connection->exchanges, exchange, next);
    settings->live->exchanges++;
    return exchange;
}

static void take_deadline(struct exchange *exchange, uint64_t timeout_ns)
{
    const uint64_t now = loop_now(exchange->stream.h2->loop);
    const bool fits = timeout_ns < UINT64_MAX - now;
    exchange->head.deadline = fits ? now + timeout_ns : UINT64_MAX;
    loop_timer_start_at(&exchange->deadline, exchange->head.deadline);
}

void exchange_on_head(struct exchange *exchange)
{
    struct grpc_request request;
    struct error err;
    if (!grpc_read_request(&exchange->stream.headers, &request, &err)) {
        finish(exchange, request.http_status, &err);
        return;
    }
    if (request.has_timeout && request.timeout_ns == 0) {
        error_set(&err, ERROR_DEADLINE_EXCEEDED, "the call came with a grpc-timeout of 0");
        finish(exchange, 200, &err);
        return;
    }
    exchange->stream.inbox.encoding = request.encoding;
    exchange->head.path = request.path;
    exchange->head.authority = request.authority;
    if (request.has_timeout) {
        take_deadline(exchange, request.timeout_ns);
    }
    set_state(exchange, EXCHANGE_RECEIVING);
    events(exchange)->on_open(owner(exchange), exchange, &exchange->head);
}

/* Takes a message. */
static void deliver(struct exchange *exchange, struct msg *msg)
{
    if (!exchange->unary) {
        events(exchange)->on_message(owner(exchange), exchange, msg);
        return;
    }
    if (exchange->held == NULL) {
        exchange->held = msg;
        return;
    }
    msg_release(&msg);
    struct error why;
    error_set(&why, ERROR_INTERNAL, "a unary call takes one message, a second one came");
    fail(exchange, &why);
}

static void fail_request(struct exchange *exchange, const struct error *why)
{
    if (why->code == ERROR_UNIMPLEMENTED) { /* the only such error of a request: its encoding */
        exchange_trailer(exchange, "grpc-accept-encoding", "identity");
    }
    fail(exchange, why);
}

void exchange_on_data(struct exchange *exchange, struct slice chunk)
{
    struct error err;
    struct msg *msg;
    stream_consume(&exchange->stream, chunk.len);
    exchange->stream.came_at = loop_now(exchange->stream.h2->loop);
    while (exchange->state == EXCHANGE_RECEIVING) {
        switch (inbox_feed(&exchange->stream.inbox, &chunk, &msg, &err)) {
        case INBOX_NEED_MORE:
            connection_watch_stall(exchange->connection);
            return;
        case INBOX_MESSAGE:
            deliver(exchange, msg);
            break;
        case INBOX_BROKEN:
            fail_request(exchange, &err);
            return;
        }
    }
}

static bool check_complete(const struct exchange *exchange, struct error *err)
{
    if (!inbox_end(&exchange->stream.inbox, err)) {
        return false;
    }
    if (exchange->unary && exchange->held == NULL) {
        return error_set(err, ERROR_INTERNAL, "a unary call takes one message, none came");
    }
    return true;
}

void exchange_on_half_close(struct exchange *exchange)
{
    struct error err;
    if (exchange->state != EXCHANGE_RECEIVING) {
        return;
    }
    if (!check_complete(exchange, &err)) {
        fail(exchange, &err);
        return;
    }
    set_state(exchange, EXCHANGE_ANSWERING);
    if (exchange->unary) {
        struct msg *msg = exchange->held;
        exchange->held = NULL;
        events(exchange)->on_message(owner(exchange), exchange, msg);
    }
    if (exchange->state == EXCHANGE_ANSWERING) {
        events(exchange)->on_half_close(owner(exchange), exchange);
    }
}

/* The end */

void exchange_on_end_sent(struct exchange *exchange)
{
    if (!nghttp2_session_get_stream_remote_close(session(exchange), exchange->stream.id)) {
        /* All is said; what the client still sends is of no use. */
        stream_reset(&exchange->stream, NGHTTP2_NO_ERROR);
    }
}

static void exchange_free(void *object)
{
    struct exchange *exchange = object;
    const struct connection_settings *settings = exchange->connection->settings;
    settings->live->exchanges--;
    charge_drop(settings->charge, CHARGE_WIRE, sizeof *exchange);
    loop_timer_fini(&exchange->deadline);
    reply_fini(&exchange->reply);
    stream_fini(&exchange->stream);
    free(exchange);
}

void exchange_on_closed(struct exchange *exchange, const struct error *why)
{
    const bool users = is_users(exchange);
    set_state(exchange, EXCHANGE_CLOSED);
    loop_timer_stop(&exchange->deadline);
    msg_release(&exchange->held);
    TAILQ_REMOVE(&exchange->connection->exchanges, exchange, next);
    stream_close(&exchange->stream);
    if (users) {
        tell_gone(exchange, why);
    }
    loop_reap(exchange->stream.h2->loop, exchange, exchange_free);
}

void exchange_on_stream_close(struct exchange *exchange, uint32_t http2_code)
{
    struct error why;
    if (is_users(exchange)) {
        error_set(&why, ERROR_CANCELLED, "the client reset the call (%s)",
                  nghttp2_http2_strerror(http2_code));
    }
    exchange_on_closed(exchange, &why);
}

/* The user's side */

void exchange_expect_unary(struct exchange *exchange)
{
    exchange->unary = true;
}

void exchange_hold_input(struct exchange *exchange, bool hold)
{
    stream_hold_input(&exchange->stream, hold);
}

size_t exchange_unsent(const struct exchange *exchange)
{
    return exchange->stream.out.len;
}

struct slice exchange_metadata(const struct exchange *exchange, const char *key)
{
    return headers_get(&exchange->stream.headers, key);
}

const struct exchange_head *exchange_head(const struct exchange *exchange)
{
    return &exchange->head;
}

const char *exchange_peer(const struct exchange *exchange)
{
    return exchange->connection->peer;
}

void exchange_set_user(struct exchange *exchange, void *user)
{
    exchange->user = user;
}

void *exchange_user(const struct exchange *exchange)
{
    return exchange->user;
}

void exchange_trailer(struct exchange *exchange, const char *key, const char *value)
{
    reply_trailer(&exchange->reply, key, value);
}

void exchange_send(struct exchange *exchange, struct chain *message)
{
    assert(is_users(exchange));
    reply_send(&exchange->reply, message);
    connection_watch_stall(exchange->connection);
}

void exchange_finish(struct exchange *exchange, const struct error *status)
{
    assert(is_users(exchange));
    finish(exchange, 200, status);
}

void exchange_respond(struct exchange *exchange, struct chain *message)
{
    exchange_send(exchange, message);
    exchange_finish(exchange, NULL);
}
