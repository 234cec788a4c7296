// SPDX-License-Identifier: Apache-2.0
/*
 * A client that sends no SETTINGS is cut, so that half-open connections do not pile up; one that
 * sends nothing but PING and SETTINGS is told to calm down; answers and requests that do not move
 * are given up; and draining takes the two GOAWAYs that lose no call.
 */
#include "liaison/http2/connection.h"

#include "liaison/container_of.h"
#include "liaison/http2/server_session.h"
#include "liaison/own.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define DRAIN_PING_MS   1000
#define IDLE_FRAMES_MAX 1000

struct connection *connection_of(struct h2 *h2)
{
    return container_of(h2, struct connection, h2);
}

/* What concerns all streams */

static void leave(struct connection *connection)
{
    if (connection->drain != CONNECTION_NOTICED) {
        return;
    }
    nghttp2_session *session = connection->h2.session;
    connection->drain = CONNECTION_LEAVING;
    loop_timer_stop(&connection->guard);
    nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(session), NGHTTP2_NO_ERROR, NULL,
                          0);
    h2_request_flush(&connection->h2);
}

void connection_on_use(struct connection *connection)
{
    connection->idle_frames = 0;
}

/* The text is the one by which gRPC clients know that they ping too often. */
static void count_idle_frame(struct connection *connection)
{
    if (++connection->idle_frames > IDLE_FRAMES_MAX) {
        struct error why;
        error_set(&why, ERROR_RESOURCE_EXHAUSTED, "too_many_pings");
        h2_terminate(&connection->h2, NGHTTP2_ENHANCE_YOUR_CALM, &why);
    }
}

void connection_on_ping(struct connection *connection, bool ack)
{
    if (ack) {
        leave(connection);
    } else {
        count_idle_frame(connection);
    }
}

void connection_on_settings(struct connection *connection, bool ack)
{
    if (connection->drain == CONNECTION_SERVING) {
        loop_timer_stop(&connection->guard);
    }
    if (!ack) {
        count_idle_frame(connection);
    }
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

static void on_h2_closed(struct h2 *h2, const struct error *why)
{
    struct connection *connection = connection_of(h2);
    const struct connection_settings *settings = connection->settings;
    loop_timer_stop(&connection->guard);
    loop_timer_stop(&connection->stall_watch);
    while (!TAILQ_EMPTY(&connection->exchanges)) {
        exchange_on_closed(TAILQ_FIRST(&connection->exchanges), why);
    }
    settings->on_closed(settings->server, connection);
    if (h2->io.peer == IO_PEER_MISMATCH && settings->events->on_mismatch != NULL) {
        settings->events->on_mismatch(settings->owner, connection->peer, why);
    }
    if (settings->events->on_disconnect != NULL) {
        settings->events->on_disconnect(settings->owner, connection->peer, why);
    }
    loop_reap(settings->loop, connection, connection_free);
}

static void on_guard(struct loop_timer *timer)
{
    struct connection *connection = container_of(timer, struct connection, guard);
    struct error why;
    if (connection->drain == CONNECTION_NOTICED && connection->h2.state == H2_OPEN) {
        leave(connection);
        return;
    }
    error_set(&why, ERROR_DEADLINE_EXCEEDED, "no HTTP/2 SETTINGS within %llu ms",
              (unsigned long long)connection->settings->greeting_timeout_ms);
    h2_close(&connection->h2, &why);
}

/* At the first moment at which something can be overdue: looked at now and then only, who takes a
 * little less than the pace would get away with it. */
static void on_stall_watch(struct loop_timer *timer)
{
    struct connection *connection = container_of(timer, struct connection, stall_watch);
    const uint64_t timeout_ns = connection->settings->stall_timeout_ms * 1000000;
    const uint64_t now = loop_now(connection->h2.loop);
    if (h2_is_blocked(&connection->h2) && now - connection->h2.moved_at >= timeout_ns) {
        struct error why;
        error_set(&why, ERROR_UNAVAILABLE, "the client took no bytes for %llu ms",
                  (unsigned long long)connection->settings->stall_timeout_ms);
        h2_close(&connection->h2, &why);
        return;
    }
    uint64_t due = UINT64_MAX;
    struct exchange *exchange;
    TAILQ_FOREACH (exchange, &connection->exchanges, next) {
        const uint64_t next = exchange_check_stall(exchange, now, timeout_ns);
        due = next < due ? next : due;
    }
    if (h2_is_blocked(&connection->h2) && connection->h2.moved_at + timeout_ns < due) {
        due = connection->h2.moved_at + timeout_ns;
    }
    if (due < UINT64_MAX) {
        loop_timer_start_at(&connection->stall_watch, due);
    }
}

void connection_watch_stall(struct connection *connection)
{
    const uint64_t timeout_ms = connection->settings->stall_timeout_ms;
    if (timeout_ms > 0 && !loop_timer_is_running(&connection->stall_watch)) {
        loop_timer_start(&connection->stall_watch, timeout_ms);
    }
}

struct connection *connection_open(const struct connection_settings *settings, int fd,
                                   struct ssl_ctx_st *tls, const char *peer)
{
    struct connection *connection = own_array(1, sizeof *connection);
    connection->settings = settings;
    (void)snprintf(connection->peer, sizeof connection->peer, "%s", peer);
    TAILQ_INIT(&connection->exchanges);
    h2_init(&connection->h2, settings->loop, on_h2_closed, settings->charge);
    h2_use(&connection->h2, server_session_new(&connection->h2, settings->max_concurrent_streams));
    loop_timer_init(&connection->guard, settings->loop, on_guard);
    loop_timer_init(&connection->stall_watch, settings->loop, on_stall_watch);
    settings->live->connections++;
    charge_add(settings->charge, CHARGE_WIRE, sizeof *connection);
    loop_timer_start(&connection->guard, settings->greeting_timeout_ms);
    h2_attach(&connection->h2, fd, &(struct io_tls){.context = tls});
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
