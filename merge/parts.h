// SPDX-License-Identifier: Apache-2.0
/*
 * The slots of a hash table in parts, so that growing costs what one part does, however large the
 * table is: the first bits of a hash tell the part, its last ones the slot. A full part is split by
 * one bit more.
 *
 *     first bits   00   01   10   11
 *     list         [a]  [a]  [b]  [c]      a part of fewer bits stands in several places
 *
 * What a slot holds is the owner's, which moves the slots; all zeroes is a free one.
 */
#pragma once

#include "merge/arena.h"

#define PARTS_SLOTS 4096 /* of a part; a smaller one doubles */

struct part_load {
    size_t count;      /* slots that are taken */
    unsigned bits;     /* of the hash that all in it share */
    uint32_t lifetime; /* the owner's, of the count */
};

struct part {
    void *slots;            /* borrow: region */
    size_t mask;            /* their number, a power of two, less 1 */
    struct part_load *load; /* borrow: region */
};

struct parts {
    struct arena *arena; /* borrow: outlives them */
    size_t slot;         /* bytes of one */
    struct part only;    /* while there is one: found without a look at the list */
    struct part *list;   /* borrow: region; from two parts on */
    unsigned bits;       /* log2 of its length */
    void *spare;         /* borrow: region; slots that a split has left over */
};

/* Begins with one part of `slots` slots. */
void parts_init(struct parts *parts, size_t slot, size_t slots, struct arena *arena);

static inline const struct part *parts_of(const struct parts *parts, uint64_t hash)
{
    return parts->bits == 0 ? &parts->only : &parts->list[hash >> (64 - parts->bits)];
}

/* Parts are at most half full. */
static inline bool parts_is_full(const struct part *part)
{
    return 2 * (part->load->count + 1) > part->mask + 1;
}

/* Makes room where this hash belongs: `old_out` is the part as it was, whose slots are to be put
 * into the parts that they now belong to (parts_of), and then given to parts_give_back. Counts are
 * the owner's to set: they begin at 0. */
void parts_grow(struct parts *parts, uint64_t hash, struct part *old_out);
void parts_give_back(struct parts *parts, const struct part *old);

/* The part behind this one, in the order of their bits; NULL begins; NULL: there is none. */
const struct part *parts_next(const struct parts *parts, const struct part *part);
