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

#include "frame/charge.h"
#include "liaison/cluster/world.h"
#include "liaison/http2/link.h"
#include "liaison/log.h"
#include "liaison/loop.h"
#include "liaison/metrics.h"
#include "liaison/options/options.h"

struct cluster;

struct cluster_setup {
    struct loop *loop;             /* borrow: outlives the cluster */
    const struct options *options; /* borrow: outlives the cluster */
    struct log *log;               /* borrow: outlives the cluster; may be NULL */
    struct metrics *metrics;       /* borrow: outlives the cluster; may be NULL */
    struct charge *charge;         /* borrow: outlives the cluster; pays for links and messages */
    struct link_live *live; /* borrow: outlives the loop; counts links and calls; may be NULL */
    /* A new picture, called on the loop's thread; the world is taken (one count). The first comes
     * when one schema server's lists are complete. */
    void (*on_world)(void *owner, struct world *world);
    void *owner; /* borrow */
};

/* NULL and err: the options do not describe a cluster (mode none, no such file path, …). Nodes and
 * schema servers that cannot be reached are no error: they are tried until they can. */
struct cluster *cluster_open(const struct cluster_setup *setup, struct error *err) MUST_CHECK;
/* Whether a first world was published; if not, `why` (may be NULL) says what is missing. */
bool cluster_is_ready(const struct cluster *cluster, struct error *why);
/* No on_world comes any more. */
void cluster_close(struct cluster **cluster);
