// SPDX-License-Identifier: Apache-2.0
/*
 * Messages are so small that they are spelled out: HealthCheckResponse is `08 <status>`,
 * HealthListResponse a map entry of "" to one.
 */
#include "liaison/edge/health.h"

#include "frame/wire.h"
#include "liaison/own.h"

#include <stdlib.h>

enum status { UNKNOWN_STATUS, SERVING, NOT_SERVING, SERVICE_UNKNOWN };

struct health_watcher {
    TAILQ_ENTRY(health_watcher) next;
    struct exchange *exchange; /* borrow: gone before this is */
    bool known;                /* of a service that there is */
};

static enum status status_of(const struct health *health)
{
    return health->serving ? SERVING : NOT_SERVING;
}

static void send_status(struct exchange *exchange, enum status status)
{
    const uint8_t bytes[] = {0x08, (uint8_t)status};
    struct chain message;
    chain_init(&message, NULL);
    chain_append(&message, slice_of(bytes, sizeof bytes));
    exchange_send(exchange, &message);
}

/* HealthCheckRequest.service; false: the bytes are no such message. */
static bool read_service(const struct msg *msg, struct slice *service_out)
{
    struct wire wire = wire_of(msg_bytes(msg));
    struct wire_field field;
    enum wire_result result;
    *service_out = slice_of("", 0);
    while ((result = wire_next(&wire, &field)) == WIRE_FIELD) {
        if (field.number == 1 && field.type == WIRE_BYTES) {
            *service_out = field.bytes;
        }
    }
    return result == WIRE_END;
}

enum asked { ASKED_KNOWN, ASKED_UNKNOWN, ASKED_NONSENSE };

/* The service "" is the only one. Nonsense has been answered. */
static enum asked read_request(struct exchange *exchange, struct msg *msg)
{
    struct error err;
    struct slice service;
    bool readable = read_service(msg, &service);
    bool known = readable && service.len == 0;
    msg_release(&msg);
    if (readable) {
        return known ? ASKED_KNOWN : ASKED_UNKNOWN;
    }
    error_set(&err, ERROR_INTERNAL,
              "grpc: error unmarshalling request: the bytes are no HealthCheckRequest");
    exchange_finish(exchange, &err);
    return ASKED_NONSENSE;
}

static void on_check(struct edge *edge, struct exchange *exchange, struct msg *msg)
{
    struct error err;
    switch (read_request(exchange, msg)) {
    case ASKED_KNOWN:
        send_status(exchange, status_of(edge_health(edge)));
        exchange_finish(exchange, NULL);
        break;
    case ASKED_UNKNOWN:
        error_set(&err, ERROR_NOT_FOUND, "unknown service");
        exchange_finish(exchange, &err);
        break;
    case ASKED_NONSENSE:
        break;
    }
}

static void on_list(struct edge *edge, struct exchange *exchange, struct msg *msg)
{
    const uint8_t bytes[] = {0x0a, 0x06, 0x0a, 0x00,
                             0x12, 0x02, 0x08, (uint8_t)status_of(edge_health(edge))};
    struct chain message;
    msg_release(&msg);
    chain_init(&message, NULL);
    chain_append(&message, slice_of(bytes, sizeof bytes));
    exchange_respond(exchange, &message);
}

static void on_watch(struct edge *edge, struct exchange *exchange, struct msg *msg)
{
    enum asked asked = read_request(exchange, msg);
    if (asked == ASKED_NONSENSE) {
        return;
    }
    struct health *health = edge_health(edge);
    struct health_watcher *watcher = own_array(1, sizeof *watcher);
    *watcher = (struct health_watcher){.exchange = exchange, .known = asked == ASKED_KNOWN};
    TAILQ_INSERT_TAIL(&health->watchers, watcher, next);
    exchange_set_user(exchange, watcher);
    send_status(exchange, watcher->known ? status_of(health) : SERVICE_UNKNOWN);
}

static void on_watch_gone(struct edge *edge, struct exchange *exchange)
{
    struct health_watcher *watcher = exchange_user(exchange);
    if (watcher != NULL) {
        TAILQ_REMOVE(&edge_health(edge)->watchers, watcher, next);
        free(watcher);
    }
}

void health_init(struct health *health)
{
    health->serving = false;
    TAILQ_INIT(&health->watchers);
}

void health_set(struct health *health, bool serving)
{
    if (health->serving == serving) {
        return;
    }
    health->serving = serving;
    struct health_watcher *watcher;
    TAILQ_FOREACH (watcher, &health->watchers, next) {
        if (watcher->known) {
            send_status(watcher->exchange, status_of(health));
        }
    }
}

void health_end_watches(struct health *health)
{
    struct error err;
    error_set(&err, ERROR_UNAVAILABLE, "the liaison is shutting down; watch another one");
    struct health_watcher *watcher;
    while ((watcher = TAILQ_FIRST(&health->watchers)) != NULL) {
        TAILQ_REMOVE(&health->watchers, watcher, next);
        exchange_set_user(watcher->exchange, NULL);
        exchange_finish(watcher->exchange, &err);
        free(watcher);
    }
}

const struct service_method health_methods[] = {
    {"/grpc.health.v1.Health/Check", on_check, NULL},
    {"/grpc.health.v1.Health/List", on_list, NULL},
    {"/grpc.health.v1.Health/Watch", on_watch, on_watch_gone},
    {NULL, NULL, NULL},
};
