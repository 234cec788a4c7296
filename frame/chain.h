// SPDX-License-Identifier: Apache-2.0
/*
 * Bytes in the making: an append-only chain of blocks.
 *
 * A response is written into blocks that never move, so growing copies nothing; it is sent block
 * by block and each block is freed when its last byte has left. Bytes that were reserved in one
 * step lie in one block. The chain belongs to one thread at a time and is handed over whole: a
 * chain that crosses threads has no charge on the way, or one that no other thread touches.
 *
 *     block  | headroom / dropped |  live bytes  | room |
 *            0                  begin       begin + len  capacity
 */
#pragma once

#include "frame/charge.h"
#include "frame/slice.h"

/* Where large blocks come from and go to, if not the heap; embedded by its owner. Used by all
 * threads whose chains know it. */
struct chain_store {
    void *(*take)(struct chain_store *store);            /* CHAIN_BLOCK bytes, or NULL */
    bool (*put)(struct chain_store *store, void *block); /* false: it stays the caller's */
};

struct chain_block {
    struct chain_block *next;  /* own */
    struct chain_store *store; /* borrow: outlives it; where it goes in the end, NULL: the heap */
    size_t capacity;
    size_t begin; /* of the first byte that was not dropped */
    size_t len;   /* bytes from there */
    uint8_t bytes[];
};

#define CHAIN_BLOCK ((size_t)256 << 10) /* largest of the usual blocks; those of a store */

struct chain {
    struct chain_block *first; /* own */
    struct chain_block *last;  /* borrow: in the list of first */
    size_t len;                /* bytes in all blocks */
    size_t capacity;           /* of all blocks */
    struct charge *charge;     /* borrow: outlives the chain; may be NULL. Kind RESPONSE */
    struct chain_store *store; /* borrow: outlives all blocks made here; NULL: none */
};

void chain_init(struct chain *chain, struct charge *charge);
void chain_fini(struct chain *chain);

/* At least `size` writable bytes in one place; write, then chain_commit what was used. */
uint8_t *chain_reserve(struct chain *chain, size_t size);
void chain_commit(struct chain *chain, size_t used);
void chain_append(struct chain *chain, struct slice bytes);
/* Puts bytes before the first one; up to 8 fit into the first block as it is. */
void chain_prepend(struct chain *chain, struct slice bytes);

/* The first bytes in one place; then drops bytes from the front, freeing finished blocks. */
struct slice chain_front(const struct chain *chain);
void chain_drop(struct chain *chain, size_t len);
/* The same, but finished blocks go behind those of `spent`: somebody still reads them. */
void chain_pass(struct chain *chain, size_t len, struct chain *spent);

/* Moves the bytes to `to` (initialised, empty); the charge moves from one account to the other. */
void chain_move(struct chain *from, struct chain *to);
/* Moves all blocks, or only the first one, behind what `to` holds; likewise. */
void chain_join(struct chain *from, struct chain *to);
void chain_shift(struct chain *from, struct chain *to);
