// SPDX-License-Identifier: Apache-2.0
/*
 * One listed address and who answers there. It is asked at once, then with a growing wait until it
 * answers; later it is asked again now and then, and what it said before holds until it answers.
 */
#pragma once

#include "liaison/cluster/discovery_file.h"
#include "liaison/http2/link.h"
#include "liaison/log.h"
#include "liaison/options/options.h"
#include "proto/database.pb-c.h"

struct place;

struct place_setup {
    struct loop *loop;             /* borrow */
    const struct options *options; /* borrow */
    struct log *log;               /* borrow; may be NULL */
    struct charge *charge;         /* borrow: outlives the loop's reaping */
    struct link_live *live;        /* borrow; may be NULL */
    /* It has answered, with something new, or has not. */
    void (*on_change)(void *owner);
    void *owner; /* borrow */
};

struct place *place_open(const struct place_setup *setup, const struct discovery_entry *entry);
void place_close(struct place **place);

/* The list says this now. A place that still waits for its answer is asked anew at once when the
 * way to ask has changed. */
void place_update(struct place *place, const struct discovery_entry *entry);
/* The node may have changed. A place that has never answered is being asked anyway. */
void place_ask_again(struct place *place);

const char *place_address(const struct place *place);
/* NULL until it has answered. */
const Banyandb__Database__V1__Node *place_node(const struct place *place);
/* Why it has not answered; text "" while the first question is on its way. */
const struct error *place_error(const struct place *place);
