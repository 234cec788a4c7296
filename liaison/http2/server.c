// SPDX-License-Identifier: Apache-2.0
/*
 * A listener and the list of its connections. Draining: the listener leaves, every connection says
 * GOAWAY, also those that still come meanwhile; the last one to leave reports.
 */
#include "liaison/http2/server.h"

#include "liaison/container_of.h"
#include "liaison/http2/connection.h"
#include "liaison/http2/listener.h"
#include "liaison/own.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#define GREETING_TIMEOUT_MS 20000
#define UNACKED_TIMEOUT_MS  20000

struct server {
    struct loop *loop; /* borrow */
    struct server_events events;
    void *owner; /* borrow */
    struct connection_settings settings;
    struct server_live live;
    struct ssl_ctx_st *tls; /* borrow */
    TAILQ_HEAD(, connection) connections;
    struct listener *listener; /* own */
    uint16_t port;
    bool draining;
    bool left; /* nobody can connect any more */
    void (*on_drained)(void *owner);
    struct loop_task drained_task;
    struct loop_task close_task;
};

/* Connections come and go */

static void on_accepted(void *owner, int fd, const char *peer)
{
    struct server *server = owner;
    struct connection *connection = connection_open(&server->settings, fd, server->tls, peer);
    TAILQ_INSERT_TAIL(&server->connections, connection, next);
    if (server->draining) {
        connection_drain(connection);
    }
}

static void report_if_drained(struct server *server)
{
    if (server->left && TAILQ_EMPTY(&server->connections)) {
        loop_defer(server->loop, &server->drained_task);
    }
}

static void on_drained(struct loop_task *task)
{
    struct server *server = container_of(task, struct server, drained_task);
    void (*report)(void *owner) = server->on_drained;
    server->on_drained = NULL;
    if (report != NULL) {
        report(server->owner);
    }
}

static void on_connection_closed(struct server *server, struct connection *connection)
{
    TAILQ_REMOVE(&server->connections, connection, next);
    report_if_drained(server);
}

/* Life */

static void server_free(void *object)
{
    struct server *server = object;
    assert(server->live.connections == 0 && server->live.exchanges == 0);
    free(server);
}

static void on_close(struct loop_task *task)
{
    struct server *server = container_of(task, struct server, close_task);
    struct error why;
    error_set(&why, ERROR_UNAVAILABLE, "the server is shutting down");
    while (!TAILQ_EMPTY(&server->connections)) {
        connection_cut(TAILQ_FIRST(&server->connections), &why);
    }
    loop_reap(server->loop, server, server_free);
}

static struct connection_settings settings_of(struct server *server,
                                              const struct server_options *options)
{
    const uint64_t greeting = options->greeting_timeout_ms;
    return (struct connection_settings){
        .loop = server->loop,
        .events = &server->events,
        .owner = server->owner,
        .live = &server->live,
        .charge = options->charge,
        .max_message_bytes = options->max_message_bytes,
        .max_concurrent_streams = options->max_concurrent_streams,
        .stall_timeout_ms = options->stall_timeout_ms,
        .greeting_timeout_ms = greeting == 0 ? GREETING_TIMEOUT_MS : greeting,
        .on_closed = on_connection_closed,
        .server = server,
    };
}

static struct server *server_new(struct loop *loop, const struct server_options *options,
                                 const struct server_events *events, void *owner)
{
    struct server *server = own_array(1, sizeof *server);
    server->loop = loop;
    server->events = *events;
    server->owner = owner;
    server->tls = options->tls;
    server->settings = settings_of(server, options);
    TAILQ_INIT(&server->connections);
    server->close_task.run = on_close;
    server->drained_task.run = on_drained;
    return server;
}

/* A client that reads slowly but steadily must not look dead to TCP before it does to us. */
static unsigned unacked_timeout(const struct server_options *options)
{
    const uint64_t stall = options->stall_timeout_ms;
    return stall > UNACKED_TIMEOUT_MS && stall < UINT32_MAX ? (unsigned)stall : UNACKED_TIMEOUT_MS;
}

struct server *server_open(struct loop *loop, const struct server_options *options,
                           const struct server_events *events, void *owner, struct error *err)
{
    const struct listener_options listen = {
        .host = options->host,
        .port = options->port,
        .reuse_port = options->reuse_port,
        .unacked_timeout_ms = unacked_timeout(options),
    };
    struct server *server = server_new(loop, options, events, owner);
    server->listener = listener_open(loop, &listen, on_accepted, server, err);
    if (server->listener == NULL) {
        free(server);
        return NULL;
    }
    server->port = listener_port(server->listener);
    return server;
}

void server_set_tls(struct server *server, struct ssl_ctx_st *tls)
{
    assert(server->tls != NULL && tls != NULL);
    server->tls = tls;
}

uint16_t server_port(const struct server *server)
{
    return server->port;
}

struct server_live server_live(const struct server *server)
{
    return server->live;
}

static void on_left(void *owner)
{
    struct server *server = owner;
    server->left = true;
    report_if_drained(server);
}

void server_drain(struct server *server, void (*on_drained_call)(void *owner))
{
    if (server->draining) {
        return;
    }
    server->draining = true;
    server->on_drained = on_drained_call;
    listener_leave(server->listener, on_left);
    struct connection *connection;
    TAILQ_FOREACH (connection, &server->connections, next) {
        connection_drain(connection);
    }
}

void server_close(struct server **server)
{
    struct server *closed = *server;
    *server = NULL;
    if (closed == NULL) {
        return;
    }
    closed->on_drained = NULL;
    listener_close(&closed->listener);
    loop_defer(closed->loop, &closed->close_task);
}
