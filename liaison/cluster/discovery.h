// SPDX-License-Identifier: Apache-2.0
/*
 * The addresses that are listed somewhere, and who answers there.
 *
 *     file ─read at start, every fetch interval, when it changes─▶ places ─whois─▶ nodes
 *                                                                    ▲──back-off──┘ no answer
 *
 * Where addresses come from is one source (the file); everything from a place on is the same for
 * every source. An error in the source leaves the places as they are.
 */
#pragma once

#include "liaison/http2/link.h"
#include "liaison/log.h"
#include "liaison/options.h"
#include "proto/database.pb-c.h"

struct discovery;

/* One listed address. */
struct discovery_place {
    char *name;                         /* own: as listed; "" = none */
    char *address;                      /* own: to dial for the question; the place's identity */
    Banyandb__Database__V1__Node *node; /* own; NULL until it has answered */
    struct error why;                   /* while it has not; code NONE = not asked to the end yet */
};

struct discovery_setup {
    struct loop *loop;             /* borrow */
    const struct options *options; /* borrow */
    struct log *log;               /* borrow; may be NULL */
    struct charge *charge;         /* borrow: outlives the loop's reaping */
    struct link_live *live;        /* borrow; may be NULL */
    /* From the loop: places came, went or answered. */
    void (*on_change)(void *owner);
    void *owner; /* borrow */
};

/* NULL and err: the mode cannot be used. A file that cannot be read is an error for the log only.*/
struct discovery *discovery_open(const struct discovery_setup *setup, struct error *err) MUST_CHECK;
void discovery_close(struct discovery **discovery);

/* In the order of the source. */
size_t discovery_count(const struct discovery *discovery);
const struct discovery_place *discovery_at(const struct discovery *discovery, size_t i);
/* What is wrong with the source itself; code NONE = nothing. */
const struct error *discovery_error(const struct discovery *discovery);
