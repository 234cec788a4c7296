// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/block_pool.h"
#include "tests/unit/frame/unit.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT (3 * CHAIN_BLOCK)

static atomic_size_t shared;
static struct block_pool pool;

static void setup(void)
{
    shared = 0;
    block_pool_init(&pool, LIMIT, &shared);
}

static void teardown(void)
{
    block_pool_fini(&pool);
    ck_assert_uint_eq(shared, 0);
}

START_TEST(what_waits_is_counted_and_bounded)
{
    ck_assert_ptr_null(pool.store.take(&pool.store));
    for (size_t i = 1; i <= 4; i++) {
        void *block = malloc(CHAIN_BLOCK);
        const bool kept = pool.store.put(&pool.store, block);
        if (!kept) {
            free(block);
        }
        if (pool.limit > 0) { /* 0 where a sanitizer watches */
            ck_assert(kept == (i <= 3));
        }
    }
    ck_assert_uint_eq(shared, pool.limit);
    ck_assert_uint_eq(block_pool_bytes(&pool), pool.limit);
    void *block = pool.store.take(&pool.store);
    ck_assert((block != NULL) == (pool.limit > 0));
    free(block);
    block_pool_drain(&pool);
    ck_assert_uint_eq(shared, 0);
}
END_TEST

static void append(struct chain *chain, size_t bytes)
{
    static const char text[1000];
    for (size_t done = 0; done < bytes; done += sizeof text) {
        chain_append(chain, slice_of(text, sizeof text));
    }
}

START_TEST(large_blocks_of_a_chain_are_used_again)
{
    struct chain chain;
    struct chain other;
    chain_init(&chain, NULL);
    chain_init(&other, NULL);
    chain.store = &pool.store;
    append(&chain, 8 * CHAIN_BLOCK);
    chain_join(&chain, &other); /* the blocks know where they go */
    chain_drop(&other, 5 * CHAIN_BLOCK);
    chain_fini(&other);
    ck_assert_uint_eq(shared, pool.limit);
    append(&chain, 8 * CHAIN_BLOCK);
    ck_assert_uint_eq(shared, 0);
    chain_fini(&chain);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("block_pool");
    TCase *tcase = tcase_create("block_pool");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, what_waits_is_counted_and_bounded);
    tcase_add_test(tcase, large_blocks_of_a_chain_are_used_again);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
