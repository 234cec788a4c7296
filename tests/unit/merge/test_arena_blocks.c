// SPDX-License-Identifier: Apache-2.0
/* A region's blocks: how they grow, what they charge, where they go and come back from. */
#include "merge/arena.h"
#include "tests/unit/frame/unit.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static void fill(struct arena *arena, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64) {
        memset(arena_alloc(arena, 64, 1), 1, 64);
    }
}

START_TEST(blocks_double_up_to_four_mib)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    size_t capacity = 0;
    while (capacity < 24 * MIB) {
        fill(&arena, 64);
        if (arena.capacity == capacity) {
            continue;
        }
        size_t block = arena.capacity - capacity;
        size_t wanted = capacity == 0 ? 8 * KIB : capacity < 4 * MIB ? capacity : 4 * MIB;
        ck_assert_uint_eq(block, wanted);
        capacity = arena.capacity;
    }
    arena_fini(&arena);
}
END_TEST

/* The block's head and spare bytes count too: 4 MiB do not fit a block of 4 MiB. */
START_TEST(block_sizes)
{
    static const struct {
        size_t size;
        size_t block;
    } table[] = {
        {0, 8 * KIB},
        {1, 8 * KIB},
        {8 * KIB - 80, 8 * KIB},
        {8 * KIB - 79, 16 * KIB},
        {100 * KIB, 128 * KIB},
        {4 * MIB - 80, 4 * MIB},
        {4 * MIB - 79, 4 * MIB + 4 * KIB},
        {5 * MIB, 5 * MIB + 4 * KIB},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct arena arena;
        arena_init(&arena, SIZE_MAX, NULL, NULL);
        uint8_t *at = arena_alloc(&arena, table[i].size, 16);
        memset(at, 1, table[i].size);
        ck_assert_msg(arena.capacity == table[i].block, "%zu bytes: %zu", table[i].size,
                      arena.capacity);
        arena_fini(&arena);
    }
}
END_TEST

START_TEST(charge_is_the_capacity)
{
    struct charge executor = {0};
    struct charge charge = {.parent = &executor};
    struct arena_cache cache = {.limit = MIB};
    struct arena arena;
    arena_init(&arena, SIZE_MAX, &cache, &charge);
    ck_assert_uint_eq(charge.count[CHARGE_REGION], 1);
    for (size_t i = 0; i < 100; i++) {
        arena_alloc(&arena, 1 + i * 977, 8);
        ck_assert_uint_eq(charge.bytes[CHARGE_REGION], arena.capacity);
        ck_assert_uint_eq(executor.total, arena.capacity);
    }
    arena_fini(&arena);
    ck_assert_uint_eq(charge.total, 0); /* cached blocks are the executor's, not the query's */
    ck_assert_uint_eq(charge.count[CHARGE_REGION], 0);
    ck_assert_uint_eq(executor.total, 0);
    arena_cache_fini(&cache);
    ck_assert_uint_eq(cache.bytes, 0);
}
END_TEST

START_TEST(over_tells_until_memory_is_given_back)
{
    struct arena arena;
    arena_init(&arena, 20 * KIB, NULL, NULL);
    ck_assert(!arena_over(&arena));
    fill(&arena, 10 * KIB);
    ck_assert(!arena_over(&arena));
    struct arena_mark mark = arena_mark(&arena);
    fill(&arena, 20 * KIB); /* memory comes all the same */
    ck_assert(arena_over(&arena));
    fill(&arena, 64);
    ck_assert(arena_over(&arena));
    arena_rewind(&arena, mark);
    ck_assert(!arena_over(&arena));
    arena_fini(&arena);
}
END_TEST

START_TEST(a_query_takes_what_the_last_gave_back)
{
    struct arena_cache cache = {.limit = 64 * MIB};
    struct arena arena;
    const void *first = NULL;
    size_t bytes = 0;
    for (int round = 0; round < 3; round++) {
        arena_init(&arena, SIZE_MAX, &cache, NULL);
        const void *at = arena_alloc(&arena, 64, 64);
        fill(&arena, 10 * MIB);
        ck_assert(round == 0 || at == first);
        ck_assert_uint_eq(cache.bytes, round == 0 ? 0 : bytes - arena.capacity);
        bytes = arena.capacity;
        first = at;
        arena_fini(&arena);
        ck_assert_uint_eq(cache.bytes, bytes);
    }
    arena_cache_fini(&cache);
    arena_cache_fini(&cache); /* twice does no harm */
}
END_TEST

START_TEST(cache_stays_within_its_limit)
{
    for (size_t limit = 0; limit <= 3 * MIB; limit += 100000) {
        struct arena_cache cache = {.limit = limit};
        for (int round = 0; round < 2; round++) {
            struct arena arenas[3];
            for (size_t i = 0; i < 3; i++) {
                arena_init(&arenas[i], SIZE_MAX, &cache, NULL);
                fill(&arenas[i], 300 * KIB);
            }
            for (size_t i = 0; i < 3; i++) {
                arena_fini(&arenas[i]);
                ck_assert_uint_le(cache.bytes, limit);
            }
        }
        arena_cache_fini(&cache);
    }
}
END_TEST

START_TEST(a_block_of_its_own_is_not_cached)
{
    struct arena_cache cache = {.limit = SIZE_MAX};
    struct arena arena;
    arena_init(&arena, SIZE_MAX, &cache, NULL);
    arena_alloc(&arena, 9 * MIB, 8);
    arena_fini(&arena);
    ck_assert_uint_eq(cache.bytes, 0);
    arena_cache_fini(&cache);
}
END_TEST

static size_t mapped; /* bytes */
static size_t map_calls;

static void *map(size_t size)
{
    ck_assert_uint_ge(size, ARENA_MAP_MIN);
    ck_assert_uint_eq(size % 4096, 0);
    mapped += size;
    map_calls++;
    return aligned_alloc(4096, size);
}

static void unmap(void *block, size_t size)
{
    mapped -= size;
    free(block);
}

START_TEST(large_blocks_come_from_the_map)
{
    struct arena_cache cache = {.limit = 5 * MIB, .map = map, .unmap = unmap};
    struct arena arena;
    arena_init(&arena, SIZE_MAX, &cache, NULL);
    fill(&arena, MIB);
    ck_assert_uint_eq(map_calls, 0);
    fill(&arena, 9 * MIB); /* 2, 4, 4 MiB */
    arena_alloc(&arena, 7 * MIB, 8);
    ck_assert_uint_eq(map_calls, 4);
    ck_assert_uint_eq(mapped, 17 * MIB + 4 * KIB);
    arena_fini(&arena);
    ck_assert_uint_eq(mapped, 4 * MIB); /* what the cache has room for */
    arena_cache_fini(&cache);
    ck_assert_uint_eq(mapped, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arena_blocks");
    TCase *tcase = tcase_create("arena_blocks");
    tcase_add_test(tcase, blocks_double_up_to_four_mib);
    tcase_add_test(tcase, block_sizes);
    tcase_add_test(tcase, charge_is_the_capacity);
    tcase_add_test(tcase, over_tells_until_memory_is_given_back);
    tcase_add_test(tcase, a_query_takes_what_the_last_gave_back);
    tcase_add_test(tcase, cache_stays_within_its_limit);
    tcase_add_test(tcase, a_block_of_its_own_is_not_cached);
    tcase_add_test(tcase, large_blocks_come_from_the_map);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
