// SPDX-License-Identifier: Apache-2.0
/*
 * Accepts a bounded number of connections per turn; pauses when the process has no descriptors
 * left, because the waiting connection would make the socket readable for ever. A connection that
 * is made to the port while it leaves must not be lost: see steering.h.
 */
#include "liaison/http2/listener.h"

#include "liaison/container_of.h"
#include "liaison/http2/port.h"
#include "liaison/http2/steering.h"
#include "liaison/own.h"

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

#define ACCEPTS_PER_TURN 64
#define PAUSE_MS         100
#define KEEPALIVE_S      60   /* clients that vanished without a word are noticed */
#define LEAVE_MS         1000 /* for handshakes that have begun here */

struct listener {
    struct loop *loop; /* borrow */
    listener_accepted *accepted;
    void *owner; /* borrow */
    unsigned unacked_timeout_ms;
    bool reuse_port;
    int fd; /* own; -1 once it has left */
    uint16_t port;
    struct event *acceptable; /* own */
    struct loop_timer pause;
    struct loop_timer leaving;
    void (*left)(void *owner);
    uint16_t probe_port; /* of our own probe, which is not handed out; 0 = none */
    bool probe_came;
};

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

/* Accepting */

static uint16_t port_of(const union address *address)
{
    return ntohs(address->any.sa_family == AF_INET6 ? address->six.sin6_port
                                                    : address->four.sin_port);
}

static void print_peer(const union address *address, socklen_t len, char text[LISTENER_PEER_BYTES])
{
    char host[NI_MAXHOST];
    if (getnameinfo(&address->any, len, host, sizeof host, NULL, 0, NI_NUMERICHOST) != 0) {
        (void)snprintf(text, LISTENER_PEER_BYTES, "unknown");
        return;
    }
    const char *mapped = strncmp(host, "::ffff:", 7) == 0 ? host + 7 : host;
    const bool v6 = strchr(mapped, ':') != NULL;
    (void)snprintf(text, LISTENER_PEER_BYTES, v6 ? "[%.46s]:%u" : "%.46s:%u", mapped,
                   port_of(address));
}

static void tune(const struct listener *listener, int fd)
{
    const int on = 1;
    const int idle_s = KEEPALIVE_S;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &listener->unacked_timeout_ms,
               sizeof listener->unacked_timeout_ms);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
}

static void hand_out(struct listener *listener, int fd, const union address *address, socklen_t len)
{
    if (listener->probe_port != 0 && port_of(address) == listener->probe_port) {
        listener->probe_came = true;
        close(fd);
        return;
    }
    char peer[LISTENER_PEER_BYTES];
    print_peer(address, len, peer);
    tune(listener, fd);
    listener->accepted(listener->owner, fd, peer);
}

static bool is_exhausted(int number)
{
    return number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM;
}

/* False: nothing to accept, or not now. */
static bool accept_one(struct listener *listener)
{
    union address address = {.any.sa_family = AF_UNSPEC};
    socklen_t len = sizeof address;
    const int fd = accept4(listener->fd, &address.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        hand_out(listener, fd, &address, len);
        return true;
    }
    if (is_exhausted(errno)) {
        event_del(listener->acceptable);
        loop_timer_start(&listener->pause, PAUSE_MS);
        return false;
    }
    return errno == ECONNABORTED || errno == EINTR;
}

static void accept_all(struct listener *listener)
{
    while (accept_one(listener)) {
    }
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

/* Leaving */

static void stop(struct listener *listener)
{
    if (listener->fd < 0) {
        return;
    }
    accept_all(listener);
    loop_timer_stop(&listener->pause);
    loop_timer_stop(&listener->leaving);
    event_free(listener->acceptable);
    listener->acceptable = NULL;
    close(listener->fd);
    listener->fd = -1;
}

static void on_leaving_over(struct loop_timer *timer)
{
    struct listener *listener = container_of(timer, struct listener, leaving);
    stop(listener);
    listener->left(listener->owner);
}

/* Does a connection that is made now come to this socket? When nobody can tell, it does. */
static bool is_chosen(struct listener *listener)
{
    listener->probe_came = false;
    const int probe = steering_probe(listener->fd, &listener->probe_port);
    if (probe < 0) {
        return true;
    }
    accept_all(listener);
    listener->probe_port = 0;
    close(probe);
    return listener->probe_came;
}

/* True: new connections go to another socket. With two of them that is number 0 or 1. */
static bool steer_away(struct listener *listener)
{
    for (unsigned number = 0; number < 2; number++) {
        if (steering_choose(listener->fd, number) && !is_chosen(listener)) {
            return true;
        }
    }
    steering_clear(listener->fd);
    return false;
}

void listener_leave(struct listener *listener, void (*left)(void *owner))
{
    listener->left = left;
    const bool steered = listener->reuse_port && steer_away(listener);
    loop_timer_start(&listener->leaving, steered ? LEAVE_MS : 0);
}

static void listener_free(void *object)
{
    struct listener *listener = object;
    loop_timer_fini(&listener->pause);
    loop_timer_fini(&listener->leaving);
    free(listener);
}

void listener_close(struct listener **listener)
{
    struct listener *closed = *listener;
    if (closed != NULL) {
        stop(closed);
        *listener = NULL;
        loop_reap(closed->loop, closed, listener_free);
    }
}

/* Beginning */

struct listener *listener_open(struct loop *loop, const struct listener_options *options,
                               listener_accepted *accepted, void *owner, struct error *err)
{
    const int fd = port_open(options->host, options->port, options->reuse_port, err);
    if (fd < 0) {
        return NULL;
    }
    struct listener *listener = own_array(1, sizeof *listener);
    listener->loop = loop;
    listener->accepted = accepted;
    listener->owner = owner;
    listener->unacked_timeout_ms = options->unacked_timeout_ms;
    listener->reuse_port = options->reuse_port;
    listener->fd = fd;
    listener->port = port_number(fd);
    loop_timer_init(&listener->pause, loop, on_pause_over);
    loop_timer_init(&listener->leaving, loop, on_leaving_over);
    listener->acceptable =
        own_checked(event_new(loop_base(loop), fd, EV_READ | EV_PERSIST, on_acceptable, listener));
    event_add(listener->acceptable, NULL);
    if (listener->reuse_port) {
        steering_clear(fd); /* one that left may have chosen */
    }
    return listener;
}

uint16_t listener_port(const struct listener *listener)
{
    return listener->port;
}
