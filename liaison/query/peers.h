// SPDX-License-Identifier: Apache-2.0
/*
 * The data nodes of one executor: a connection to each member that can be asked, kept in step with
 * the world. A member that left, or moved, keeps its old connection until the calls on it have
 * ended.
 */
#pragma once

#include "liaison/cluster/node.h"
#include "liaison/query/survey.h"

struct peer;

/* Embedded by its executor. */
struct peers {
    struct node_setup setup;        /* of each; its owner is this, on_state is its own */
    void (*on_change)(void *owner); /* a node's state has changed; may be NULL */
    void *owner;                    /* borrow */

    struct peer *list; /* own, in no order */
    size_t count;
    uint64_t settled_at; /* loop_now's clock: from then on nobody waits for first connections */
};

/* The three first fields are set by the owner. */
void peers_init(struct peers *peers);
/* Closes all connections: calls on them end. */
void peers_close(struct peers *peers);
/* When the loop is gone. */
void peers_fini(struct peers *peers);
/* Same names and addresses stay connected; the rest leaves or is opened. */
void peers_follow(struct peers *peers, const struct world *world);
/* NULL: not known here (yet). */
struct node *peers_node(const struct peers *peers, const char *name);
/* Each has been up, or failed once, or it has taken too long. */
bool peers_are_settled(const struct peers *peers);
/* Those that left and have no calls any more are closed. */
void peers_sweep(struct peers *peers);
size_t peers_calls(const struct peers *peers);
size_t peers_links(const struct peers *peers);
void peers_report(const struct peers *peers, struct survey_part *part);
