// SPDX-License-Identifier: Apache-2.0
/*
 * One link with one watch call and any number of list calls on it. Whatever fails ends all of them;
 * the next connection begins with complete lists again, so nothing has to be resumed.
 */
#include "liaison/cluster/schema_session.h"

#include "liaison/cluster/backoff.h"
#include "liaison/cluster/pulse.h"
#include "liaison/cluster/schema_list.h"
#include "liaison/cluster/schema_watch.h"
#include "liaison/cluster/trust.h"
#include "liaison/container_of.h"
#include "liaison/own.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MODULE            "SCHEMA"
#define CONNECT_MS        5000
#define HEALTH_DEFAULT_MS 10000
#define FIRST_RETRY_MS    1000
#define LAST_RETRY_MS     30000

struct schema_session {
    struct schema_session_setup setup;
    char *name;    /* own */
    char *address; /* own */
    enum schema_session_state state;
    struct error why;
    struct link *link;          /* own; NULL when DOWN */
    struct ssl_ctx_st *tls;     /* own; of the last connection */
    struct schema_watch *watch; /* own; NULL when DOWN, or when the server cannot watch */
    LIST_HEAD(, schema_list) lists;
    size_t lists_left; /* of the first five */
    struct pulse pulse;
    struct loop_timer retry_timer;
    struct backoff backoff;
};

/* Down */

static void drop_link(struct schema_session *session)
{
    while (!LIST_EMPTY(&session->lists)) {
        struct schema_list *list = LIST_FIRST(&session->lists);
        LIST_REMOVE(list, entry);
        schema_list_close(&list);
    }
    schema_watch_close(&session->watch);
    pulse_stop(&session->pulse);
    if (session->link != NULL) {
        link_close(&session->link);
    }
}

static void go_down(struct schema_session *session, const struct error *why)
{
    if (session->state == SCHEMA_SESSION_DOWN) {
        return;
    }
    if (strcmp(session->why.text, why->text) != 0) {
        log_warn(session->setup.log, MODULE, "schema server is down; node=%s address=%s error=%s",
                 session->name, session->address, why->text);
    }
    session->why = *why;
    drop_link(session);
    session->state = SCHEMA_SESSION_DOWN;
    loop_timer_start(&session->retry_timer, backoff_next(&session->backoff));
    session->setup.events->on_state(session->setup.owner, session);
}

/* Watching */

static void on_watch_object(void *owner, const Banyandb__Property__V1__Property *property,
                            int64_t delete_time)
{
    struct schema_session *session = owner;
    session->setup.events->on_object(session->setup.owner, session, property, delete_time, false);
}

static void on_watch_digest(void *owner, const Banyandb__Property__V1__Property *property,
                            int64_t delete_time)
{
    struct schema_session *session = owner;
    session->setup.events->on_digest(session->setup.owner, session, property, delete_time);
}

static void on_watch_digests_done(void *owner)
{
    struct schema_session *session = owner;
    session->setup.events->on_digests_done(session->setup.owner, session);
}

static void on_watch_end(void *owner, const struct error *why)
{
    struct schema_session *session = owner;
    session->watch = NULL;
    if (why->code == ERROR_UNIMPLEMENTED) {
        log_warn(session->setup.log, MODULE,
                 "schema server cannot be watched, its lists are read instead; node=%s",
                 session->name);
    } else {
        go_down(session, why);
    }
}

static void open_watch(struct schema_session *session)
{
    session->watch = schema_watch_open(&(struct schema_watch_setup){
        .loop = session->setup.loop,
        .link = session->link,
        .log = session->setup.log,
        .charge = session->setup.charge,
        .on_object = on_watch_object,
        .on_digest = on_watch_digest,
        .on_digests_done = on_watch_digests_done,
        .on_end = on_watch_end,
        .owner = session,
    });
}

/* Listing */

static void on_list_object(void *owner, const struct schema_list *list,
                           const Banyandb__Property__V1__Property *property, int64_t delete_time)
{
    struct schema_session *session = owner;
    session->setup.events->on_object(session->setup.owner, session, property, delete_time,
                                     list->setup.asked);
}

static void schedule_health(struct schema_session *session);

static void finish_lists(struct schema_session *session)
{
    if (session->state != SCHEMA_SESSION_LISTING) {
        return; /* read again, by a session that cannot watch */
    }
    log_info(session->setup.log, MODULE, "schema server is read; node=%s address=%s", session->name,
             session->address);
    session->state = SCHEMA_SESSION_WATCHING;
    session->why = (struct error){0};
    backoff_reset(&session->backoff);
    schedule_health(session);
    session->setup.events->on_state(session->setup.owner, session);
}

static void on_list_end(void *owner, struct schema_list *list, const struct error *why)
{
    struct schema_session *session = owner;
    LIST_REMOVE(list, entry);
    if (why != NULL) {
        go_down(session, why);
    } else if (!list->setup.asked && --session->lists_left == 0) {
        finish_lists(session);
    }
}

static void open_list(struct schema_session *session, enum schema_kind kind, const char *id)
{
    struct schema_list *list = schema_list_open(&(struct schema_list_setup){
        .loop = session->setup.loop,
        .link = session->link,
        .charge = session->setup.charge,
        .kind = kind,
        .id = id,
        .asked = id != NULL,
        .on_object = on_list_object,
        .on_end = on_list_end,
        .owner = session,
    });
    LIST_INSERT_HEAD(&session->lists, list, entry);
}

static void open_lists(struct schema_session *session)
{
    session->lists_left = SCHEMA_KINDS;
    for (int kind = 0; kind < SCHEMA_KINDS; kind++) {
        open_list(session, (enum schema_kind)kind, NULL);
    }
}

/* Health */

static void on_pulse(void *owner, const struct error *why)
{
    struct schema_session *session = owner;
    if (why == NULL) {
        schedule_health(session);
    } else {
        go_down(session, why);
    }
}

static void schedule_health(struct schema_session *session)
{
    const int64_t interval = session->setup.options->schema_property_client_health_check_interval;
    if (interval >= 0) {
        pulse_ask_later(&session->pulse, session->link,
                        interval == 0 ? HEALTH_DEFAULT_MS : duration_ms(interval));
    }
}

/* Connecting */

static void on_link(void *owner, struct link *link, enum link_state state, const struct error *why)
{
    struct schema_session *session = owner;
    struct error draining;
    (void)link;
    switch (state) {
    case LINK_CONNECTING:
    case LINK_READY:
        break;
    case LINK_DRAINING:
        error_set(&draining, ERROR_UNAVAILABLE, "the server closes its connection (GOAWAY)");
        go_down(session, &draining);
        break;
    case LINK_CLOSED:
        go_down(session, why);
        break;
    }
}

static void connect_link(struct schema_session *session)
{
    static const struct link_events events = {.on_state = on_link};
    const struct options *options = session->setup.options;
    struct error why;
    session->state = SCHEMA_SESSION_LISTING;
    if (!trust_renew(&session->tls, options->schema_property_client_tls,
                     options->schema_property_client_ca_cert, &why)) {
        go_down(session, &why);
        return;
    }
    const struct link_options link = {
        .address = session->address,
        .tls = session->tls,
        .tls_switch = "--schema-property-client-tls",
        .connect_timeout_ms = CONNECT_MS,
        .max_message_bytes = options->schema_property_client_max_recv_msg_size,
        .charge = session->setup.charge,
        .live = session->setup.live,
    };
    session->link = link_open(session->setup.loop, &link, &events, session);
    open_watch(session);
    open_lists(session);
}

static void run_retry_timer(struct loop_timer *timer)
{
    connect_link(container_of(timer, struct schema_session, retry_timer));
}

/* Life */

struct schema_session *schema_session_open(const struct schema_session_setup *setup)
{
    struct schema_session *session = own_array(1, sizeof *session);
    session->setup = *setup;
    session->name = own_text(setup->name);
    session->address = own_text(setup->address);
    session->backoff = (struct backoff){.first_ms = FIRST_RETRY_MS,
                                        .max_ms = LAST_RETRY_MS,
                                        .factor = 2,
                                        .jitter_percent = 20,
                                        .seed = loop_now(setup->loop) ^ (uintptr_t)session};
    LIST_INIT(&session->lists);
    session->pulse = (struct pulse){
        .loop = setup->loop, .charge = setup->charge, .on_answer = on_pulse, .owner = session};
    pulse_init(&session->pulse);
    loop_timer_init(&session->retry_timer, setup->loop, run_retry_timer);
    session->state = SCHEMA_SESSION_LISTING;
    loop_timer_start(&session->retry_timer, 0); /* from the loop, as whatever comes of it */
    return session;
}

static void reap(void *object)
{
    struct schema_session *session = object;
    free(session->name);
    free(session->address);
    tls_free(&session->tls);
    free(session);
}

void schema_session_close(struct schema_session **session)
{
    struct schema_session *closed = *session;
    *session = NULL;
    if (closed == NULL) {
        return;
    }
    drop_link(closed);
    pulse_fini(&closed->pulse);
    loop_timer_fini(&closed->retry_timer);
    loop_reap(closed->setup.loop, closed, reap);
}

const char *schema_session_name(const struct schema_session *session)
{
    return session->name;
}

const char *schema_session_address(const struct schema_session *session)
{
    return session->address;
}

enum schema_session_state schema_session_state(const struct schema_session *session)
{
    return session->state;
}

const struct error *schema_session_error(const struct schema_session *session)
{
    return &session->why;
}

/* Questions */

static bool can_ask(const struct schema_session *session)
{
    return session->state == SCHEMA_SESSION_WATCHING &&
           (session->watch == NULL || !schema_watch_is_busy(session->watch));
}

bool schema_session_news(struct schema_session *session, int64_t revision)
{
    if (!can_ask(session)) {
        return false;
    }
    if (session->watch == NULL) {
        open_lists(session);
    } else {
        schema_watch_news(session->watch, revision);
    }
    return true;
}

bool schema_session_compare(struct schema_session *session)
{
    if (!can_ask(session) || session->watch == NULL) {
        return false;
    }
    schema_watch_compare(session->watch);
    return true;
}

void schema_session_fetch(struct schema_session *session, enum schema_kind kind, const char *id)
{
    if (session->state == SCHEMA_SESSION_WATCHING) {
        open_list(session, kind, id);
    }
}
