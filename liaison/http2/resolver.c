// SPDX-License-Identifier: Apache-2.0
/* c-ares says which sockets it wants to be watched; one event each, and one timer for all. */
#include "liaison/http2/resolver.h"

#include "liaison/container_of.h"
#include "liaison/own.h"

#include <ares.h>
#include <event2/event.h>

#include <stddef.h>
#include <stdlib.h>

#define SOCKETS_MAX   32
#define CHANNEL_BYTES ((size_t)74 << 10) /* c-ares' tables, about */

struct watch {
    struct event *event; /* own; NULL = free place */
    ares_socket_t fd;
};

struct resolver {
    struct loop *loop;     /* borrow */
    ares_channel channel;  /* own */
    struct charge *charge; /* borrow; may be NULL */
    struct watch watches[SOCKETS_MAX];
    struct loop_timer timer;
};

static void on_socket(evutil_socket_t fd, short what, void *owner)
{
    struct resolver *resolver = owner;
    ares_process_fd(resolver->channel, what & EV_READ ? fd : ARES_SOCKET_BAD,
                    what & EV_WRITE ? fd : ARES_SOCKET_BAD);
    resolver_kick(resolver);
}

static void on_timer(struct loop_timer *timer)
{
    struct resolver *resolver = container_of(timer, struct resolver, timer);
    ares_process_fd(resolver->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    resolver_kick(resolver);
}

/* The place of this socket, or a free one. */
static struct watch *find_watch(struct resolver *resolver, ares_socket_t fd)
{
    struct watch *found = NULL;
    for (size_t i = 0; i < SOCKETS_MAX; i++) {
        struct watch *watch = &resolver->watches[i];
        if (watch->event != NULL && watch->fd == fd) {
            return watch;
        }
        if (watch->event == NULL && found == NULL) {
            found = watch;
        }
    }
    return found;
}

static void on_socket_state(void *owner, ares_socket_t fd, int readable, int writable)
{
    struct resolver *resolver = owner;
    struct watch *watch = find_watch(resolver, fd);
    if (watch == NULL) {
        return; /* more sockets than places: that query runs into its time-out */
    }
    if (watch->event != NULL) {
        event_free(watch->event);
        watch->event = NULL;
    }
    if (!readable && !writable) {
        return;
    }
    const short what = (short)((readable ? EV_READ : 0) | (writable ? EV_WRITE : 0) | EV_PERSIST);
    watch->fd = fd;
    watch->event = own_checked(event_new(loop_base(resolver->loop), fd, what, on_socket, resolver));
    event_add(watch->event, NULL);
}

struct resolver *resolver_new(struct loop *loop, bool search, struct charge *charge,
                              struct error *err)
{
    struct resolver *resolver = own_array(1, sizeof *resolver);
    resolver->loop = loop;
    struct ares_options options = {.flags = search ? 0 : ARES_FLAG_NOSEARCH,
                                   .sock_state_cb = on_socket_state,
                                   .sock_state_cb_data = resolver};
    const int code =
        ares_init_options(&resolver->channel, &options, ARES_OPT_SOCK_STATE_CB | ARES_OPT_FLAGS);
    if (code != ARES_SUCCESS) {
        free(resolver);
        error_set(err, ERROR_UNAVAILABLE, "resolver: %s", ares_strerror(code));
        return NULL;
    }
    resolver->charge = charge;
    charge_add(charge, CHARGE_WIRE, sizeof *resolver + CHANNEL_BYTES);
    loop_timer_init(&resolver->timer, loop, on_timer);
    return resolver;
}

static void free_now(void *object)
{
    struct resolver *resolver = object;
    ares_destroy(resolver->channel);
    charge_drop(resolver->charge, CHARGE_WIRE, sizeof *resolver + CHANNEL_BYTES);
    loop_timer_fini(&resolver->timer);
    free(resolver);
}

void resolver_free(struct resolver **resolver)
{
    if (*resolver != NULL) {
        free_now(*resolver);
        *resolver = NULL;
    }
}

void resolver_reap(struct resolver **resolver)
{
    if (*resolver != NULL) {
        loop_reap((*resolver)->loop, *resolver, free_now);
        *resolver = NULL;
    }
}

struct ares_channeldata *resolver_channel(struct resolver *resolver)
{
    return resolver->channel;
}

void resolver_kick(struct resolver *resolver)
{
    struct timeval wait;
    if (ares_timeout(resolver->channel, NULL, &wait) == NULL) {
        loop_timer_stop(&resolver->timer);
        return;
    }
    loop_timer_start(&resolver->timer,
                     (uint64_t)wait.tv_sec * 1000 + (uint64_t)wait.tv_usec / 1000 + 1);
}
