// SPDX-License-Identifier: Apache-2.0
/*
 * Dial, then one HTTP/2 session for many calls. The session exists from the start, so calls are
 * submitted at once and leave when the connection stands. Data nodes are never pinged.
 */
#include "liaison/http2/link.h"

#include "liaison/container_of.h"
#include "liaison/http2/call.h"
#include "liaison/http2/dial.h"
#include "liaison/http2/link_session.h"
#include "liaison/own.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#define CONNECT_TIMEOUT_MS 5000
#define WINDOW_BYTES       ((32u << 20) + (64u << 10))

struct link {
    struct call_host host;
    struct link_events events; /* all NULL once link_close was called */
    void *owner;               /* borrow */
    enum link_state state;
    struct dial *dial;      /* own; NULL when it is done */
    struct ssl_ctx_st *tls; /* borrow */
    const char *tls_switch; /* borrow */
    struct dial_target target;
    uint64_t connect_timeout_ms;
    struct loop_timer guard; /* CONNECTING */
    struct loop_task closing;
    bool abandoned; /* by link_close */
};

static struct link *link_of(struct h2 *h2)
{
    return container_of(h2, struct link, host.h2);
}

static void set_state(struct link *link, enum link_state state, const struct error *why)
{
    assert(state > link->state); /* only forward */
    link->state = state;
    if (state != LINK_CONNECTING) {
        loop_timer_stop(&link->guard);
    }
    if (link->events.on_state != NULL) {
        link->events.on_state(link->owner, link, state, why);
    }
}

/* What the peer says about the connection */

static void on_greeting(struct call_host *host)
{
    struct link *link = link_of(&host->h2);
    if (link->state == LINK_CONNECTING) {
        set_state(link, LINK_READY, NULL);
    }
}

static void on_leaving(struct call_host *host, const struct error *why)
{
    struct link *link = link_of(&host->h2);
    if (link->state < LINK_DRAINING) {
        set_state(link, LINK_DRAINING, why);
    }
}

/* The end */

static void link_free(void *object)
{
    struct link *link = object;
    assert(TAILQ_EMPTY(&link->host.calls));
    if (link->host.live != NULL) {
        link->host.live->links--;
    }
    charge_drop(link->host.h2.charge, CHARGE_WIRE, sizeof *link);
    h2_fini(&link->host.h2);
    loop_timer_fini(&link->guard);
    free(link->host.authority);
    free(link);
}

static void end_calls(struct link *link, const struct error *why)
{
    while (!TAILQ_EMPTY(&link->host.calls)) {
        call_end(TAILQ_FIRST(&link->host.calls), why);
    }
}

/* Whoever reads of it has to know which switch is meant. */
static void advise(struct link *link)
{
    struct error *why = &link->host.h2.why;
    const struct error found = *why;
    const bool tls = link->tls != NULL;
    if (link->tls_switch == NULL || link->state != LINK_CONNECTING) {
        return;
    }
    if (link->host.h2.io.peer == IO_PEER_MISMATCH) {
        error_set(why, found.code, "%s: turn TLS %s (%s)", found.text,
                  tls ? "on there, or off here" : "on here", link->tls_switch);
    } else if (link->host.h2.io.peer == IO_PEER_LEFT) {
        error_set(why, found.code, "%s, and nothing had come: does it %s? (%s)", found.text,
                  tls ? "speak clear text" : "expect TLS", link->tls_switch);
    }
}

/* The connection is gone. A user that abandons the link meanwhile gets the ends of its calls from
 * on_closing. */
static void on_closed(struct h2 *h2, const struct error *why)
{
    struct link *link = link_of(h2);
    dial_cancel(&link->dial);
    advise(link); /* why is that of h2 */
    if (link->state != LINK_CLOSED) {
        set_state(link, LINK_CLOSED, why);
    }
    if (!link->abandoned) {
        end_calls(link, why);
    }
}

static void on_closing(struct loop_task *task)
{
    struct link *link = container_of(task, struct link, closing);
    end_calls(link, &link->host.h2.why);
    loop_reap(link->host.h2.loop, link, link_free);
}

static void abandon(struct link *closed)
{
    closed->abandoned = true;
    closed->events = (struct link_events){0};
    if (closed->state != LINK_CLOSED) {
        set_state(closed, LINK_CLOSED, NULL);
    }
    dial_cancel(&closed->dial);
    h2_cut(&closed->host.h2);
    loop_defer(closed->host.h2.loop, &closed->closing);
}

void link_fail(struct link **link, const struct error *why)
{
    struct link *closed = *link;
    *link = NULL;
    if (closed == NULL) {
        return;
    }
    if (closed->host.h2.why.code == ERROR_NONE) {
        closed->host.h2.why = *why;
    }
    abandon(closed);
}

void link_close(struct link **link)
{
    struct error why;
    if (*link != NULL) {
        error_set(&why, ERROR_UNAVAILABLE, "the connection to %s was closed here",
                  (*link)->host.authority);
        link_fail(link, &why);
    }
}

static void on_guard(struct loop_timer *timer)
{
    struct link *link = container_of(timer, struct link, guard);
    struct error why;
    error_set(&why, ERROR_UNAVAILABLE, "no HTTP/2 connection to %s within %llu ms",
              link->host.authority, (unsigned long long)link->connect_timeout_ms);
    h2_close(&link->host.h2, &why);
}

/* The beginning */

static void on_dialled(void *owner, int fd, const struct error *why)
{
    struct link *link = owner;
    const struct io_tls tls = {.context = link->tls, .host = link->target.host};
    link->dial = NULL;
    if (fd < 0) {
        h2_close(&link->host.h2, why);
    } else {
        h2_attach(&link->host.h2, fd, &tls);
    }
}

static struct link *link_new(struct loop *loop, const struct link_options *options)
{
    struct link *link = own_array(1, sizeof *link);
    const uint32_t window = options->window_bytes == 0 ? WINDOW_BYTES : options->window_bytes;
    struct call_host *host = &link->host;
    h2_init(&host->h2, loop, on_closed, options->charge);
    h2_use(&host->h2, link_session_new(host, window));
    TAILQ_INIT(&host->calls);
    host->on_greeting = on_greeting;
    host->on_leaving = on_leaving;
    host->live = options->live;
    host->max_message_bytes = options->max_message_bytes;
    host->scheme = options->tls == NULL ? "http" : "https";
    host->authority = own_text(options->address);
    link->tls = options->tls;
    link->tls_switch = options->tls_switch;
    link->closing.run = on_closing;
    loop_timer_init(&link->guard, loop, on_guard);
    return link;
}

struct link *link_open(struct loop *loop, const struct link_options *options,
                       const struct link_events *events, void *owner)
{
    struct link *link = link_new(loop, options);
    struct error err;
    link->events = *events;
    link->owner = owner;
    link->connect_timeout_ms =
        options->connect_timeout_ms == 0 ? CONNECT_TIMEOUT_MS : options->connect_timeout_ms;
    charge_add(options->charge, CHARGE_WIRE, sizeof *link);
    if (options->live != NULL) {
        options->live->links++;
    }
    if (!dial_parse(options->address, &link->target, &err)) {
        link->host.h2.why = err;
        link->connect_timeout_ms = 0; /* on_guard tells, from the loop */
    } else {
        const struct dial_options dial = {
            .target = &link->target,
            .timeout_ms = link->connect_timeout_ms,
            .charge = options->charge,
        };
        link->dial = dial_open(loop, &dial, on_dialled, link);
    }
    loop_timer_start(&link->guard, link->connect_timeout_ms);
    return link;
}

enum link_state link_state(const struct link *link)
{
    return link->state;
}

uint64_t link_heard_at(const struct link *link)
{
    return h2_heard_at(&link->host.h2);
}

size_t link_calls(const struct link *link)
{
    return link->host.call_count;
}

struct call_host *link_host(struct link *link)
{
    return &link->host;
}
