// SPDX-License-Identifier: Apache-2.0
/*
 * Blocks double in size up to a limit, so a small answer costs little and a large one few blocks.
 * Every block keeps some headroom: the length prefix of a message is put before its bytes when
 * these are complete, in place.
 */
#include "frame/chain.h"

#include "frame/spent.h"

#include <assert.h>
#include <stdlib.h>

#define HEADROOM  8
#define BLOCK_MIN ((size_t)1 << 10) /* of the whole allocation */

static size_t held(const struct chain_block *block)
{
    return sizeof *block + block->capacity;
}

static struct chain_block *block_new(struct chain_store *store, size_t capacity)
{
    assert(capacity < SIZE_MAX / 2);
    const size_t size = sizeof(struct chain_block) + capacity;
    struct chain_block *block = NULL;
    store = size == CHAIN_BLOCK ? store : NULL;
    if (store != NULL) {
        block = store->take(store);
    }
    if (block == NULL) {
        block = malloc(size);
    }
    if (block == NULL) {
        abort();
    }
    *block = (struct chain_block){.store = store, .capacity = capacity, .begin = HEADROOM};
    return block;
}

static void block_free(struct charge *charge, struct chain_block *block)
{
    if (block->store == NULL || !block->store->put(block->store, block)) {
        spent_free(charge, block, held(block));
    }
}

/* Puts a block last; pays for it. */
static void link_last(struct chain *chain, struct chain_block *block)
{
    block->next = NULL;
    if (chain->last == NULL) {
        chain->first = block;
    } else {
        chain->last->next = block;
    }
    chain->last = block;
    chain->len += block->len;
    chain->capacity += block->capacity;
    charge_add(chain->charge, CHARGE_RESPONSE, held(block));
}

/* Takes the first block off; its charge is given back. */
static struct chain_block *unlink_first(struct chain *chain)
{
    struct chain_block *block = chain->first;
    chain->first = block->next;
    if (chain->first == NULL) {
        chain->last = NULL;
    }
    chain->len -= block->len;
    chain->capacity -= block->capacity;
    charge_drop(chain->charge, CHARGE_RESPONSE, held(block));
    return block;
}

void chain_init(struct chain *chain, struct charge *charge)
{
    *chain = (struct chain){.charge = charge};
}

void chain_fini(struct chain *chain)
{
    while (chain->first != NULL) {
        block_free(chain->charge, unlink_first(chain));
    }
}

static size_t room(const struct chain_block *block)
{
    return block == NULL ? 0 : block->capacity - block->begin - block->len;
}

/* The next block is as large as all before it together, within the limits. */
static size_t next_capacity(const struct chain *chain, size_t size)
{
    size_t total = chain->capacity;
    total = total < BLOCK_MIN ? BLOCK_MIN : total;
    total = total > CHAIN_BLOCK ? CHAIN_BLOCK : total;
    size_t capacity = total - sizeof(struct chain_block);
    return capacity < size + HEADROOM ? size + HEADROOM : capacity;
}

uint8_t *chain_reserve(struct chain *chain, size_t size)
{
    if (chain->last == NULL || room(chain->last) < size) {
        link_last(chain, block_new(chain->store, next_capacity(chain, size)));
    }
    return chain->last->bytes + chain->last->begin + chain->last->len;
}

void chain_commit(struct chain *chain, size_t used)
{
    assert(used <= room(chain->last));
    if (used > 0) {
        chain->last->len += used;
        chain->len += used;
    }
}

void chain_append(struct chain *chain, struct slice bytes)
{
    size_t fits = room(chain->last) < bytes.len ? room(chain->last) : bytes.len;
    if (fits > 0) {
        memcpy(chain_reserve(chain, fits), bytes.ptr, fits);
        chain_commit(chain, fits);
    }
    size_t rest = bytes.len - fits;
    if (rest > 0) {
        memcpy(chain_reserve(chain, rest), bytes.ptr + fits, rest);
        chain_commit(chain, rest);
    }
}

void chain_prepend(struct chain *chain, struct slice bytes)
{
    struct chain_block *first = chain->first;
    if (first == NULL) {
        chain_append(chain, bytes);
        return;
    }
    if (first->begin < bytes.len) {
        struct chain rest;
        chain_init(&rest, chain->charge);
        chain_join(chain, &rest);
        chain_append(chain, bytes);
        chain_join(&rest, chain);
        return;
    }
    first->begin -= bytes.len;
    first->len += bytes.len;
    chain->len += bytes.len;
    memcpy(first->bytes + first->begin, bytes.ptr, bytes.len);
}

struct slice chain_front(const struct chain *chain)
{
    const struct chain_block *block = chain->first;
    while (block != NULL && block->len == 0) {
        block = block->next;
    }
    return block == NULL ? slice_of(NULL, 0) : slice_of(block->bytes + block->begin, block->len);
}

/* Drops up to `len` bytes of the first block; returns how many. */
static size_t drop_in_first(struct chain *chain, size_t len)
{
    struct chain_block *first = chain->first;
    const size_t part = first->len < len ? first->len : len;
    first->begin += part;
    first->len -= part;
    chain->len -= part;
    return part;
}

void chain_drop(struct chain *chain, size_t len)
{
    assert(len <= chain->len);
    while (len > 0) {
        len -= drop_in_first(chain, len);
        if (chain->first->len == 0) {
            block_free(chain->charge, unlink_first(chain));
        }
    }
}

void chain_pass(struct chain *chain, size_t len, struct chain *spent)
{
    assert(len <= chain->len);
    while (len > 0) {
        len -= drop_in_first(chain, len);
        if (chain->first->len == 0) {
            chain_shift(chain, spent);
        }
    }
}

void chain_shift(struct chain *from, struct chain *to)
{
    if (from->first != NULL) {
        link_last(to, unlink_first(from));
    }
}

void chain_join(struct chain *from, struct chain *to)
{
    while (from->first != NULL) {
        chain_shift(from, to);
    }
}

void chain_move(struct chain *from, struct chain *to)
{
    assert(to->first == NULL);
    chain_join(from, to);
}
