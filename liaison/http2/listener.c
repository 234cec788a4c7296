// SPDX-License-Identifier: Apache-2.0
/*
 * Accepts a bounded number of connections per turn; pauses when the process has no descriptors
 * left, because the waiting connection would make the socket readable for ever.
 */
#include "liaison/http2/listener.h"

#include <event2/event.h>

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG          4096
#define ACCEPTS_PER_TURN 64
#define PAUSE_MS         100

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

struct listener {
    struct loop *loop; /* borrow */
    listener_accepted *accepted;
    void *owner; /* borrow */
    unsigned unacked_timeout_ms;
    int fd; /* own */
    uint16_t port;
    struct event *acceptable; /* own */
    struct loop_timer pause;
};

/* Accepting */

static void print_peer(const struct sockaddr_storage *address, socklen_t len,
                       char text[LISTENER_PEER_BYTES])
{
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    if (getnameinfo((const struct sockaddr *)address, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        (void)snprintf(text, LISTENER_PEER_BYTES, "unknown");
        return;
    }
    const char *mapped = strncmp(host, "::ffff:", 7) == 0 ? host + 7 : host;
    const bool v6 = strchr(mapped, ':') != NULL;
    (void)snprintf(text, LISTENER_PEER_BYTES, v6 ? "[%.46s]:%.6s" : "%.46s:%.6s", mapped, port);
}

static void tune(const struct listener *listener, int fd)
{
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &listener->unacked_timeout_ms,
               sizeof listener->unacked_timeout_ms);
}

static bool is_exhausted(int number)
{
    return number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM;
}

/* False: nothing to accept, or not now. */
static bool accept_one(struct listener *listener)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    const int fd =
        accept4(listener->fd, (struct sockaddr *)&address, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        char peer[LISTENER_PEER_BYTES];
        print_peer(&address, len, peer);
        tune(listener, fd);
        listener->accepted(listener->owner, fd, peer);
        return true;
    }
    if (is_exhausted(errno)) {
        event_del(listener->acceptable);
        loop_timer_start(&listener->pause, PAUSE_MS);
        return false;
    }
    return errno == ECONNABORTED || errno == EINTR;
}

static void on_acceptable(evutil_socket_t fd, short what, void *owner)
{
    (void)fd;
    (void)what;
    for (int i = 0; i < ACCEPTS_PER_TURN && accept_one(owner); i++) {
    }
}

static void on_pause_over(struct loop_timer *timer)
{
    struct listener *listener = container_of(timer, struct listener, pause);
    event_add(listener->acceptable, NULL);
}

/* The socket */

static int listen_at(const struct addrinfo *at, bool reuse_port)
{
    const int on = 1;
    const int off = 0;
    const int fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
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

/* One IPv6 socket that takes IPv4 as well, or IPv4 where there is no v6. */
static int listen_everywhere(uint16_t port, bool reuse_port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    const struct addrinfo any[2] = {
        {.ai_family = AF_INET6, .ai_addr = (struct sockaddr *)&six, .ai_addrlen = sizeof six},
        {.ai_family = AF_INET, .ai_addr = (struct sockaddr *)&four, .ai_addrlen = sizeof four},
    };
    const int fd = listen_at(&any[0], reuse_port);
    const bool no_v6 = fd < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL);
    return no_v6 ? listen_at(&any[1], reuse_port) : fd;
}

static int listen_on(const struct listener_options *options, struct error *err)
{
    char port[8];
    (void)snprintf(port, sizeof port, "%u", options->port);
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    const int code = getaddrinfo(options->host, port, &hints, &found);
    if (code != 0) {
        error_set(err, ERROR_UNAVAILABLE, "cannot listen on %s:%s: %s", options->host, port,
                  gai_strerror(code));
        return -1;
    }
    const int fd = listen_at(found, options->reuse_port);
    freeaddrinfo(found);
    return fd;
}

static int make_socket(const struct listener_options *options, struct error *err)
{
    const bool any = options->host[0] == '\0';
    err->code = ERROR_NONE;
    const int fd =
        any ? listen_everywhere(options->port, options->reuse_port) : listen_on(options, err);
    if (fd < 0 && err->code == ERROR_NONE) {
        error_set(err, ERROR_UNAVAILABLE, "cannot listen on %s:%u: %s", any ? "*" : options->host,
                  options->port, strerror(errno));
    }
    return fd;
}

static uint16_t port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } address = {.any.sa_family = AF_UNSPEC};
    socklen_t len = sizeof address;
    if (getsockname(fd, &address.any, &len) != 0) {
        return 0;
    }
    return ntohs(address.any.sa_family == AF_INET6 ? address.six.sin6_port : address.four.sin_port);
}

/* Life */

struct listener *listener_open(struct loop *loop, const struct listener_options *options,
                               listener_accepted *accepted, void *owner, struct error *err)
{
    struct error unwanted;
    const int fd = make_socket(options, err == NULL ? &unwanted : err);
    if (fd < 0) {
        return NULL;
    }
    struct listener *listener = calloc(1, sizeof *listener);
    if (listener == NULL) {
        abort();
    }
    listener->loop = loop;
    listener->accepted = accepted;
    listener->owner = owner;
    listener->unacked_timeout_ms = options->unacked_timeout_ms;
    listener->fd = fd;
    listener->port = port_of(fd);
    loop_timer_init(&listener->pause, loop, on_pause_over);
    listener->acceptable =
        event_new(loop_base(loop), fd, EV_READ | EV_PERSIST, on_acceptable, listener);
    if (listener->acceptable == NULL) {
        abort();
    }
    event_add(listener->acceptable, NULL);
    return listener;
}

uint16_t listener_port(const struct listener *listener)
{
    return listener->port;
}

static void listener_free(void *object)
{
    struct listener *listener = object;
    loop_timer_fini(&listener->pause);
    free(listener);
}

void listener_close(struct listener **listener)
{
    struct listener *closed = *listener;
    if (closed == NULL) {
        return;
    }
    while (accept_one(closed)) {
    }
    *listener = NULL;
    loop_timer_stop(&closed->pause);
    event_free(closed->acceptable);
    close(closed->fd);
    loop_reap(closed->loop, closed, listener_free);
}
