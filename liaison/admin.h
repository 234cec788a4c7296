// SPDX-License-Identifier: Apache-2.0
/*
 * Metrics and health over plain HTTP, for Prometheus and for whoever starts the process.
 *
 *     GET /metrics   text exposition
 *     GET /healthz   200 "ok", or 503 and the reason why it cannot answer queries yet
 *     GET /nodes     JSON: the data nodes and their states (nodes_page.h)
 *
 * It runs on the control loop; nothing it does touches a query.
 */
#pragma once

#include "frame/error.h"
#include "liaison/loop.h"
#include "liaison/metrics.h"

struct admin;
/* One that waits for its answer. */
struct admin_request;

struct admin_setup {
    struct loop *loop;       /* borrow: outlives the admin */
    const char *address;     /* borrow during admin_open: "host:port", ":2121"; port 0 = any */
    struct metrics *metrics; /* borrow: outlives the admin */
    /* Fills why and returns false while queries cannot be answered. */
    bool (*is_ready)(void *owner, struct error *why);
    /* Called before /metrics is answered, for gauges that are read and not counted; may be NULL. */
    void (*before_metrics)(void *owner);
    /* GET /nodes: admin_reply gives the answer, now or later; may be NULL. */
    void (*on_nodes)(void *owner, struct admin_request *request /* take */);
    void *owner; /* borrow */
};

struct admin *admin_open(const struct admin_setup *setup, struct error *err) MUST_CHECK;
uint16_t admin_port(const struct admin *admin);
/* JSON text. Takes the request, whose client may have gone meanwhile, or the admin itself. */
void admin_reply(struct admin_request **request /* take */, const char *json);
void admin_close(struct admin **admin);
