// SPDX-License-Identifier: Apache-2.0
/*
 * What is held: bytes by capacity, and how many objects of each kind are alive.
 *
 * A query has one charge whose parent is its executor's; every change is made in both, so the
 * executor's is the sum of its queries. All objects of a query live on one thread: plain numbers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum charge_kind {
    CHARGE_MESSAGE,  /* received messages, by capacity, while their count is above zero */
    CHARGE_VIEW,     /* decoded frames that are being merged; they own no bytes */
    CHARGE_REGION,   /* blocks of regions, by capacity */
    CHARGE_RESPONSE, /* response buffers, by capacity */
    CHARGE_WIRE,     /* HTTP/2 and TLS buffers, by capacity */
    CHARGE_KINDS,
};

struct charge {
    struct charge *parent;      /* borrow: outlives this one; NULL at the top */
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
