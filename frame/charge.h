// SPDX-License-Identifier: Apache-2.0
/*
 * What is held: bytes by capacity, and how many objects of each kind are alive.
 *
 * A query has one charge whose parent is its executor's; every change is made in both, so the
 * executor's is the sum of its queries. All objects of a query live on one thread: plain numbers.
 *
 *     query ─▶ executor ─┐
 *                edge ───┼─▶ shared: one atomic number for all threads
 *             control ───┘
 *
 * A charge without a parent tells the shared number in steps, so that small changes cost no
 * atomic instruction: it has told a little more than it holds, never less.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum charge_kind {
    CHARGE_MESSAGE,  /* received messages, by capacity, while their count is above zero */
    CHARGE_VIEW,     /* decoded frames that are being merged; they own no bytes */
    CHARGE_REGION,   /* blocks of regions, by capacity */
    CHARGE_RESPONSE, /* response buffers, by capacity */
    CHARGE_WIRE,     /* HTTP/2 and TLS buffers, by capacity */
    CHARGE_CACHE,    /* blocks that wait for the next query, or to be given back */
    CHARGE_CATALOG,  /* schema objects */
    CHARGE_KINDS,
};

/* By which the shared number may be ahead, twice at most. */
#define CHARGE_STEP ((size_t)64 << 10)

struct spent;

struct charge {
    struct charge *parent;      /* borrow: outlives this one; NULL at the top */
    atomic_size_t *shared;      /* borrow: outlives it; of a top only; NULL: nobody is told */
    struct spent *spent;        /* borrow: likewise; takes what is large in the end (spent.h) */
    size_t told;                /* this one's part of the shared number */
    size_t bytes[CHARGE_KINDS]; /* held now */
    size_t count[CHARGE_KINDS]; /* objects alive */
    size_t total;               /* sum of bytes */
    size_t peak;                /* greatest total so far */
};

/* Adds an object of `bytes`. charge may be NULL: nothing is counted. */
void charge_add(struct charge *charge, enum charge_kind kind, size_t bytes);
/* An object that was added with `from` bytes now holds `to`. */
void charge_resize(struct charge *charge, enum charge_kind kind, size_t from, size_t to);
/* Takes an object of `bytes` back. Asserts that it had been added. */
void charge_drop(struct charge *charge, enum charge_kind kind, size_t bytes);

/* Makes sure that `more` bytes can be added without the shared number going over `limit`; they are
 * told at once, so what is added next finds room whatever other threads do meanwhile. False: they
 * cannot, and nothing has changed. True also when nobody is told. */
bool charge_room(struct charge *charge, size_t more, size_t limit);
