// SPDX-License-Identifier: Apache-2.0
/* grpc.health.v1.Health: Check, Watch and List of the one service "". */
#pragma once

#include "liaison/edge/service.h"

struct health_watcher;

struct health {
    bool serving;
    TAILQ_HEAD(, health_watcher) watchers;
};

void health_init(struct health *health);
/* Tells the watchers. */
void health_set(struct health *health, bool serving);
/* Ends the watches, so that their connections can close. */
void health_end_watches(struct health *health);

/* The edge's. */
struct health *edge_health(struct edge *edge);
