// SPDX-License-Identifier: Apache-2.0
/*
 * The schema registry as its reader: a session with every schema server, one store for what all of
 * them tell.
 *
 *     session ─┐ objects, live and deleted        every 30 s: "what is newer?"
 *     session ─┼─▶ catalog_store ─▶ snapshots     every fifth time: compare everything
 *     session ─┘
 *
 * Every server holds everything, but each may miss an event, so all are watched; the newest
 * updated_at wins, whoever tells it. Deletions do not show in "what is newer": those that were
 * missed live are found by the compare.
 */
#pragma once

#include "liaison/http2/link.h"
#include "liaison/log.h"
#include "liaison/options/options.h"
#include "proto/catalog.h"

struct registry;

struct registry_setup {
    struct loop *loop;             /* borrow */
    const struct options *options; /* borrow */
    struct log *log;               /* borrow; may be NULL */
    struct charge *charge;         /* borrow: outlives the loop's reaping */
    struct link_live *live;        /* borrow; may be NULL */
    /* From the loop: the catalog has changed, or a server's state. */
    void (*on_change)(void *owner);
    /* A server that was down is back: perhaps the node is another one now. */
    void (*on_return)(void *owner, const char *name);
    void *owner; /* borrow */
};

struct registry *registry_open(const struct registry_setup *setup);
void registry_close(struct registry **registry);

struct registry_server {
    const char *name;    /* borrow: copied */
    const char *address; /* borrow: copied */
};

/* From now on these are the servers; sessions with those that were there before go on. */
void registry_follow(struct registry *registry, const struct registry_server *servers,
                     size_t count);

struct registry_status {
    size_t known;         /* servers */
    size_t watched;       /* those whose lists are in */
    bool complete;        /* the lists of one server have been complete at least once */
    const char *last_why; /* borrow: until the next loop turn; of a server that is down, or "" */
    const char *last_server;
};
struct registry_status registry_status(const struct registry *registry);

/* Whether the catalog has changed since the last call. */
bool registry_take_change(struct registry *registry);
/* The objects as they are now; count 1. */
struct catalog *registry_snapshot(const struct registry *registry);
