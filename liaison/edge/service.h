// SPDX-License-Identifier: Apache-2.0
/*
 * A method that the edge serves: its path and what is called as the call goes on. Everything is
 * unary in its request: the message is there, whole, when `on_request` is called.
 */
#pragma once

#include "liaison/http2/server.h"

struct edge;

struct service_method {
    const char *path;
    /* Answers now or later. The message is taken. */
    void (*on_request)(struct edge *edge, struct exchange *exchange, struct msg *msg /* take */);
    /* The exchange is gone before it was answered; NULL: nothing to forget. */
    void (*on_gone)(struct edge *edge, struct exchange *exchange);
};

/* Each service's methods, ended by a NULL path. */
extern const struct service_method measure_methods[];
extern const struct service_method health_methods[];
extern const struct service_method cluster_state_methods[];
extern const struct service_method current_node_methods[];
extern const struct service_method api_version_methods[];
