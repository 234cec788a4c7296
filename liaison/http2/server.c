// SPDX-License-Identifier: Apache-2.0
/*
 * The listener and the list of its connections. Draining: take what the kernel has already accepted
 * for us, close the socket, and let every connection say GOAWAY; the last one to leave reports.
 */
#include "liaison/http2/server.h"

#include "liaison/http2/connection.h"

#include <event2/event.h>
#include <openssl/ssl.h>

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG            4096
#define ACCEPTS_PER_TURN   64
#define ACCEPT_PAUSE_MS    100
#define UNACKED_TIMEOUT_MS 20000u /* TCP_USER_TIMEOUT */

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

struct server {
    struct loop *loop; /* borrow */
    struct server_events events;
    void *owner; /* borrow */
    struct connection_settings settings;
    struct server_live live;
    struct ssl_ctx_st *tls; /* borrow */
    TAILQ_HEAD(, connection) connections;
    int fd; /* own: listens; -1 once it drains */
    uint16_t port;
    struct event *acceptable; /* own */
    struct loop_timer accept_pause;
    struct loop_task close_task;
    struct loop_task drained_task;
    bool draining;
    void (*on_drained)(void *owner);
};

/* Connections come and go */

static void report_if_drained(struct server *server)
{
    if (server->draining && TAILQ_EMPTY(&server->connections)) {
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

static void print_peer(const struct sockaddr_storage *address, socklen_t len, char *text,
                       size_t capacity)
{
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    if (getnameinfo((const struct sockaddr *)address, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        snprintf(text, capacity, "unknown");
        return;
    }
    const bool v6 = strchr(host, ':') != NULL;
    snprintf(text, capacity, v6 ? "[%.46s]:%s" : "%.46s:%s", host, port);
}

static void adopt(struct server *server, int fd, const char *peer)
{
    struct ssl_st *ssl = NULL;
    if (server->tls != NULL) {
        ssl = SSL_new(server->tls);
        if (ssl == NULL) {
            close(fd);
            return;
        }
        SSL_set_accept_state(ssl);
    }
    const int on = 1;
    const unsigned timeout_ms = UNACKED_TIMEOUT_MS;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof timeout_ms);
    struct connection *connection = connection_open(&server->settings, fd, ssl, peer);
    TAILQ_INSERT_TAIL(&server->connections, connection, next);
}

/* False: nothing to accept, or not now. */
static bool accept_one(struct server *server)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    const int fd =
        accept4(server->fd, (struct sockaddr *)&address, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        char peer[64];
        print_peer(&address, len, peer, sizeof peer);
        adopt(server, fd, peer);
        return true;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        /* the connection stays in the queue: do not spin on it */
        event_del(server->acceptable);
        loop_timer_start(&server->accept_pause, ACCEPT_PAUSE_MS);
        return false;
    }
    return errno == ECONNABORTED || errno == EINTR;
}

static void on_acceptable(evutil_socket_t fd, short what, void *owner)
{
    (void)fd;
    (void)what;
    struct server *server = owner;
    for (int i = 0; i < ACCEPTS_PER_TURN && accept_one(server); i++) {
    }
}

static void on_accept_pause_over(struct loop_timer *timer)
{
    struct server *server = container_of(timer, struct server, accept_pause);
    if (server->acceptable != NULL) {
        event_add(server->acceptable, NULL);
    }
}

/* The socket */

static int listen_at(const struct addrinfo *at, bool reuse_port)
{
    const int on = 1;
    const int off = 0;
    const int fd =
        socket(at->ai_family, at->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, at->ai_protocol);
    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (reuse_port) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    }
    if (at->ai_family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        const int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

/* "" means all addresses: one IPv6 socket that takes IPv4 as well, or IPv4 where there is no v6. */
static int listen_on(const struct server_options *options, struct error *err)
{
    char port[8];
    snprintf(port, sizeof port, "%u", options->port);
    const bool any = options->host[0] == '\0';
    const struct addrinfo hints = {
        .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
        .ai_socktype = SOCK_STREAM,
        .ai_family = any ? AF_INET6 : AF_UNSPEC,
    };
    struct addrinfo *found;
    int code = getaddrinfo(any ? "::" : options->host, port, &hints, &found);
    if (code != 0) {
        error_set(err, ERROR_UNAVAILABLE, "cannot listen on %s:%s: %s", options->host, port,
                  gai_strerror(code));
        return -1;
    }
    int fd = listen_at(found, options->reuse_port);
    if (fd < 0 && any && errno == EAFNOSUPPORT) {
        struct sockaddr_in all = {.sin_family = AF_INET, .sin_port = htons(options->port)};
        struct addrinfo v4 = {.ai_family = AF_INET,
                              .ai_socktype = SOCK_STREAM,
                              .ai_addr = (struct sockaddr *)&all,
                              .ai_addrlen = sizeof all};
        fd = listen_at(&v4, options->reuse_port);
    }
    if (fd < 0) {
        error_set(err, ERROR_UNAVAILABLE, "cannot listen on %s:%s: %s", any ? "*" : options->host,
                  port, strerror(errno));
    }
    freeaddrinfo(found);
    return fd;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &len) != 0) {
        return 0;
    }
    return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                               : ((struct sockaddr_in *)&address)->sin_port);
}

/* Life */

static void stop_listening(struct server *server)
{
    if (server->fd < 0) {
        return;
    }
    loop_timer_stop(&server->accept_pause);
    event_free(server->acceptable);
    server->acceptable = NULL;
    close(server->fd);
    server->fd = -1;
}

static void server_free(void *object)
{
    struct server *server = object;
    assert(server->live.connections == 0 && server->live.exchanges == 0);
    loop_timer_fini(&server->accept_pause);
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

static struct server *server_new(struct loop *loop, const struct server_options *options,
                                 const struct server_events *events, void *owner)
{
    struct server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        abort();
    }
    server->loop = loop;
    server->events = *events;
    server->owner = owner;
    server->tls = options->tls;
    server->settings = (struct connection_settings){
        .loop = loop,
        .events = &server->events,
        .owner = owner,
        .live = &server->live,
        .charge = options->charge,
        .max_message_bytes = options->max_message_bytes,
        .max_concurrent_streams = options->max_concurrent_streams,
        .stall_timeout_ms = options->stall_timeout_ms,
        .on_closed = on_connection_closed,
        .server = server,
    };
    TAILQ_INIT(&server->connections);
    server->close_task.run = on_close;
    server->drained_task.run = on_drained;
    loop_timer_init(&server->accept_pause, loop, on_accept_pause_over);
    return server;
}

struct server *server_open(struct loop *loop, const struct server_options *options,
                           const struct server_events *events, void *owner, struct error *err)
{
    const int fd = listen_on(options, err);
    if (fd < 0) {
        return NULL;
    }
    struct server *server = server_new(loop, options, events, owner);
    server->fd = fd;
    server->port = port_of(fd);
    server->acceptable =
        event_new(loop_base(loop), fd, EV_READ | EV_PERSIST, on_acceptable, server);
    if (server->acceptable == NULL) {
        abort();
    }
    event_add(server->acceptable, NULL);
    return server;
}

uint16_t server_port(const struct server *server)
{
    return server->port;
}

struct server_live server_live(const struct server *server)
{
    return server->live;
}

void server_drain(struct server *server, void (*on_drained_call)(void *owner))
{
    if (server->draining) {
        return;
    }
    server->draining = true;
    server->on_drained = on_drained_call;
    while (accept_one(server)) {
    }
    stop_listening(server);
    struct connection *connection;
    TAILQ_FOREACH (connection, &server->connections, next) {
        connection_drain(connection);
    }
    report_if_drained(server);
}

void server_close(struct server **server)
{
    struct server *closed = *server;
    *server = NULL;
    if (closed == NULL) {
        return;
    }
    closed->on_drained = NULL;
    stop_listening(closed);
    loop_defer(closed->loop, &closed->close_task);
}
