// SPDX-License-Identifier: Apache-2.0
/* Everything happens in loop callbacks, the first step too, so `done` never comes early. */
#include "liaison/http2/dial.h"

#include "liaison/container_of.h"
#include "liaison/http2/resolver.h"
#include "liaison/own.h"

#include <ares.h>
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

#define ADDRESSES_MAX      8
#define UNACKED_TIMEOUT_MS 20000u /* TCP_USER_TIMEOUT */
#define ATTEMPT_MIN_MS     250

struct address {
    struct sockaddr_storage bytes;
    socklen_t len;
};

struct dial {
    struct loop *loop; /* borrow */
    struct dial_target target;
    uint64_t timeout_ms;
    struct charge *charge;     /* borrow; may be NULL */
    dial_done *done;           /* NULL once it was called or cancelled */
    void *owner;               /* borrow */
    struct resolver *resolver; /* own; NULL when no name is being resolved */
    struct address list[ADDRESSES_MAX];
    size_t len;
    size_t next;
    int fd;                    /* own: connecting */
    struct event *connectable; /* own */
    struct loop_timer attempt;
    struct loop_task first_step;
    struct error why; /* of the last failure */
};

bool dial_parse(const char *address, struct dial_target *target_out, struct error *err)
{
    const char *colon = strrchr(address, ':');
    const char *host = address;
    size_t len = colon == NULL ? 0 : (size_t)(colon - address);
    if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
        host++;
        len -= 2;
    }
    target_out->is_complete = len > 1 && host[len - 1] == '.';
    if (target_out->is_complete) {
        len--;
    }
    const size_t port_len = colon == NULL ? 0 : strlen(colon + 1);
    if (len == 0 || len >= sizeof target_out->host || port_len == 0 ||
        port_len >= sizeof target_out->port || strspn(colon + 1, "0123456789") != port_len) {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "\"%.200s\" is no address of the form host:port", address);
    }
    memcpy(target_out->host, host, len);
    target_out->host[len] = '\0';
    memcpy(target_out->port, colon + 1, port_len + 1);
    return true;
}

/* The end */

static void dial_free(void *object)
{
    struct dial *dial = object;
    charge_drop(dial->charge, CHARGE_WIRE, sizeof *dial);
    loop_timer_fini(&dial->attempt);
    free(dial);
}

static void drop_attempt(struct dial *dial)
{
    loop_timer_stop(&dial->attempt);
    if (dial->connectable != NULL) {
        event_free(dial->connectable);
        dial->connectable = NULL;
    }
    if (dial->fd >= 0) {
        close(dial->fd);
        dial->fd = -1;
    }
}

static void retire(struct dial *dial)
{
    dial->done = NULL;
    drop_attempt(dial);
    if (dial->resolver != NULL) {
        /* its farewell to open queries comes while it is reaped, before the dial is */
        resolver_reap(&dial->resolver);
    }
    loop_reap(dial->loop, dial, dial_free);
}

static void finish(struct dial *dial, int fd)
{
    dial_done *done = dial->done;
    retire(dial);
    done(dial->owner, fd, &dial->why);
}

void dial_cancel(struct dial **dial)
{
    if (*dial != NULL) {
        retire(*dial);
        *dial = NULL;
    }
}

/* Connecting */

static void note_failure(struct dial *dial, const char *text)
{
    drop_attempt(dial);
    error_set(&dial->why, ERROR_UNAVAILABLE, "connect to %s:%s: %s", dial->target.host,
              dial->target.port, text);
}

static bool begin_connect(struct dial *dial, const struct address *address)
{
    const int on = 1;
    const unsigned timeout_ms = UNACKED_TIMEOUT_MS;
    dial->fd = socket(address->bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (dial->fd < 0) {
        return false;
    }
    setsockopt(dial->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(dial->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof timeout_ms);
    return connect(dial->fd, (const struct sockaddr *)&address->bytes, address->len) == 0 ||
           errno == EINPROGRESS;
}

static void on_connectable(evutil_socket_t fd, short what, void *owner);

static void watch(struct dial *dial)
{
    dial->connectable =
        own_checked(event_new(loop_base(dial->loop), dial->fd, EV_WRITE, on_connectable, dial));
    event_add(dial->connectable, NULL);
    const uint64_t share = dial->timeout_ms / dial->len;
    loop_timer_start(&dial->attempt, share < ATTEMPT_MIN_MS ? ATTEMPT_MIN_MS : share);
}

static void try_next(struct dial *dial)
{
    while (dial->next < dial->len) {
        if (begin_connect(dial, &dial->list[dial->next++])) {
            watch(dial);
            return;
        }
        note_failure(dial, strerror(errno));
    }
    finish(dial, -1);
}

static void on_attempt_over(struct loop_timer *timer)
{
    struct dial *dial = container_of(timer, struct dial, attempt);
    note_failure(dial, "timed out");
    try_next(dial);
}

static void on_connectable(evutil_socket_t fd, short what, void *owner)
{
    (void)what;
    struct dial *dial = owner;
    int code = 0;
    socklen_t len = sizeof code;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len);
    if (code != 0) {
        note_failure(dial, strerror(code));
        try_next(dial);
        return;
    }
    dial->fd = -1;
    finish(dial, fd);
}

/* Resolving */

static void add_address(struct dial *dial, const struct sockaddr *bytes, socklen_t len)
{
    if (dial->len < ADDRESSES_MAX && len <= sizeof dial->list[0].bytes) {
        struct address *address = &dial->list[dial->len++];
        memcpy(&address->bytes, bytes, len);
        address->len = len;
    }
}

static bool add_numeric(struct dial *dial, const char *host)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    if (getaddrinfo(host, dial->target.port, &hints, &found) != 0) {
        return false;
    }
    add_address(dial, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return true;
}

static void on_resolved(void *owner, int code, int timeouts, struct ares_addrinfo *found)
{
    (void)timeouts;
    struct dial *dial = owner;
    if (dial->done == NULL) { /* cancelled; this is the farewell */
        ares_freeaddrinfo(found);
        return;
    }
    if (code != ARES_SUCCESS) {
        error_set(&dial->why, ERROR_UNAVAILABLE, "cannot resolve \"%s\": %s", dial->target.host,
                  ares_strerror(code));
    } else {
        error_set(&dial->why, ERROR_UNAVAILABLE, "cannot resolve \"%s\": no addresses",
                  dial->target.host);
        for (const struct ares_addrinfo_node *at = found->nodes; at != NULL; at = at->ai_next) {
            add_address(dial, at->ai_addr, at->ai_addrlen);
        }
    }
    ares_freeaddrinfo(found);
    /* c-ares does not like to be destroyed here, and it may answer from inside the question */
    loop_defer(dial->loop, &dial->first_step);
}

static void resolve(struct dial *dial)
{
    dial->resolver = resolver_new(dial->loop, !dial->target.is_complete, dial->charge, &dial->why);
    if (dial->resolver == NULL) {
        finish(dial, -1);
        return;
    }
    const struct ares_addrinfo_hints hints = {.ai_socktype = SOCK_STREAM,
                                              .ai_flags = ARES_AI_NUMERICSERV};
    ares_getaddrinfo(resolver_channel(dial->resolver), dial->target.host, dial->target.port, &hints,
                     on_resolved, dial);
    resolver_kick(dial->resolver);
}

/* Comes twice for a name: first to ask, then with what was found. */
static void on_first_step(struct loop_task *task)
{
    struct dial *dial = container_of(task, struct dial, first_step);
    if (dial->done == NULL) {
        return;
    }
    const bool asked = dial->resolver != NULL;
    const char *host = dial->target.host;
    if (!asked && strcasecmp(host, "localhost") == 0) {
        add_numeric(dial, "127.0.0.1");
        add_numeric(dial, "::1");
    } else if (!asked && !add_numeric(dial, host)) {
        resolve(dial);
        return;
    }
    resolver_free(&dial->resolver);
    try_next(dial);
}

struct dial *dial_open(struct loop *loop, const struct dial_options *options, dial_done *done,
                       void *owner)
{
    struct dial *dial = own_array(1, sizeof *dial);
    charge_add(options->charge, CHARGE_WIRE, sizeof *dial);
    dial->loop = loop;
    dial->charge = options->charge;
    dial->target = *options->target;
    dial->timeout_ms = options->timeout_ms;
    dial->done = done;
    dial->owner = owner;
    dial->fd = -1;
    dial->first_step.run = on_first_step;
    loop_timer_init(&dial->attempt, loop, on_attempt_over);
    loop_defer(loop, &dial->first_step);
    return dial;
}
