// SPDX-License-Identifier: Apache-2.0
#include "liaison/thread_cache.h"
#include "tests/unit/frame/unit.h"

#include <malloc.h>
#include <stdlib.h>

#define SIZES 64
#define EACH  7

static size_t given_out(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks;
}

/* Frees some blocks of every small size. */
static void fill_cache(void)
{
    void *volatile blocks[SIZES * EACH];
    for (size_t i = 0; i < SIZES * EACH; i++) {
        blocks[i] = malloc(24 + i / EACH * 16);
    }
    for (size_t i = 0; i < SIZES * EACH; i++) {
        free(blocks[i]);
    }
}

START_TEST(blocks_of_all_small_sizes_go_back)
{
    thread_cache_drop();
    const size_t before = given_out();
    if (before == 0) {
        return; /* a sanitizer's allocator keeps nothing and tells nothing */
    }
    fill_cache();
    ck_assert_uint_gt(given_out(), before + 100000);
    thread_cache_drop();
    ck_assert_uint_lt(given_out(), before + 10000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("thread_cache");
    TCase *tcase = tcase_create("thread_cache");
    tcase_add_test(tcase, blocks_of_all_small_sizes_go_back);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
