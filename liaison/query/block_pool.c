// SPDX-License-Identifier: Apache-2.0
/* A list under a mutex. With AddressSanitizer nothing is kept, so that a use after free is seen. */
#include "liaison/query/block_pool.h"

#include "frame/asan.h"

#include <stdlib.h>

/* With the mutex held. */
static struct pool_block *take_first(struct block_pool *pool)
{
    struct pool_block *block = pool->first;
    if (block != NULL) {
        pool->first = block->next;
        pool->bytes -= CHAIN_BLOCK;
        atomic_fetch_sub_explicit(pool->shared, CHAIN_BLOCK, memory_order_relaxed);
    }
    return block;
}

static void *take(struct chain_store *store)
{
    struct block_pool *pool = (struct block_pool *)store;
    pthread_mutex_lock(&pool->mutex);
    struct pool_block *block = take_first(pool);
    pthread_mutex_unlock(&pool->mutex);
    return block;
}

static bool put(struct chain_store *store, void *memory)
{
    struct block_pool *pool = (struct block_pool *)store;
    pthread_mutex_lock(&pool->mutex);
    const bool fits = pool->limit >= CHAIN_BLOCK && pool->bytes <= pool->limit - CHAIN_BLOCK;
    if (fits) {
        struct pool_block *block = memory;
        block->next = pool->first;
        pool->first = block;
        pool->bytes += CHAIN_BLOCK;
        atomic_fetch_add_explicit(pool->shared, CHAIN_BLOCK, memory_order_relaxed);
    }
    pthread_mutex_unlock(&pool->mutex);
    return fits;
}

void block_pool_init(struct block_pool *pool, size_t limit, atomic_size_t *shared)
{
    *pool = (struct block_pool){
        .store = {.take = take, .put = put}, .limit = ASAN ? 0 : limit, .shared = shared};
    pthread_mutex_init(&pool->mutex, NULL);
}

void block_pool_drain(struct block_pool *pool)
{
    struct pool_block *block;
    while ((block = take(&pool->store)) != NULL) {
        free(block);
    }
}

void block_pool_fini(struct block_pool *pool)
{
    block_pool_drain(pool);
    pthread_mutex_destroy(&pool->mutex);
}

size_t block_pool_bytes(struct block_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    const size_t bytes = pool->bytes;
    pthread_mutex_unlock(&pool->mutex);
    return bytes;
}
