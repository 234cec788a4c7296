// SPDX-License-Identifier: Apache-2.0
/*
 * The control plane: finds nodes, keeps the schema registry's objects, publishes worlds.
 *
 *     discovery (file) ─▶ addresses ─▶ GetCurrentNode ─▶ members ──┐
 *                                          └▶ schema servers       ├─▶ world ─▶ on_world
 *                                               list + watch ─▶ catalog
 *
 * It runs on a loop of its own thread, so that a large schema or a slow name server never delays a
 * query. It only reads: nothing is ever written to the cluster.
 */
#pragma once

#include "liaison/cluster/world.h"
#include "liaison/loop.h"
#include "liaison/options.h"

struct cluster;

struct cluster_events {
    /* A new picture, called on the control loop's thread; the world is taken (one count). */
    void (*on_world)(void *owner, struct world *world);
};

struct cluster *cluster_open(struct loop *loop, const struct options *options,
                             const struct cluster_events *events, void *owner,
                             struct error *err) MUST_CHECK;
void cluster_close(struct cluster **cluster);
