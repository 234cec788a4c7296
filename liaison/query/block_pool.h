// SPDX-License-Identifier: Apache-2.0
/*
 * The large blocks of responses that wait for their next use, for all threads: they are made by one
 * thread and given up by another. What waits is counted in the number that all accounts tell
 * (charge.h), so it is part of what the process holds, and can be given back at any time.
 */
#pragma once

#include "frame/chain.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct pool_block {
    struct pool_block *next; /* own */
};

struct block_pool {
    struct chain_store store; /* first: for chains */
    pthread_mutex_t mutex;
    struct pool_block *first; /* own */
    size_t bytes;             /* that wait */
    size_t limit;
    atomic_size_t *shared; /* borrow: outlives it */
};

/* Keeps `limit` bytes at most; `shared` counts them. */
void block_pool_init(struct block_pool *pool, size_t limit, atomic_size_t *shared);
void block_pool_fini(struct block_pool *pool);

/* Frees what waits. */
void block_pool_drain(struct block_pool *pool);
size_t block_pool_bytes(struct block_pool *pool);
