// SPDX-License-Identifier: Apache-2.0
/* Spent memory: what is large goes piece by piece, is charged to the top until it is gone, and what
 * is small goes at once. */
#include "frame/asan.h"
#include "frame/chain.h"
#include "frame/msg.h"
#include "frame/spent.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"

static struct charge top;
static struct charge query;
static struct spent spent;
static size_t told;

static void on_some(struct spent *of)
{
    ck_assert_ptr_eq(of, &spent);
    told++;
}

static void setup(void)
{
    told = 0;
    spent = (struct spent){.charge = &top, .on_some = on_some};
    top = (struct charge){.spent = &spent};
    query = (struct charge){.parent = &top};
}

/* Every test ends with nothing held. */
static void teardown(void)
{
    ck_assert_ptr_null(spent.first);
    ck_assert_uint_eq(spent.bytes, 0);
    ck_assert_uint_eq(top.total, 0);
    ck_assert_uint_eq(top.count[CHARGE_CACHE], 0);
    ck_assert_uint_eq(query.total, 0);
}

static void *block_of(size_t size)
{
    return memset(malloc(size), 1, size);
}

/* How many pieces it takes until all is given back. */
static size_t give_back_all(void)
{
    size_t pieces = 1;
    while (spent_give_back(&spent)) {
        pieces++;
    }
    return pieces;
}

START_TEST(small_blocks_go_at_once)
{
    spent_free(&query, block_of(SPENT_MIN - 1), SPENT_MIN - 1);
    ck_assert_uint_eq(told, 0);
    ck_assert_uint_eq(spent.bytes, 0);
    ck_assert(!spent_give_back(&spent));
}
END_TEST

START_TEST(without_a_taker_all_goes_at_once)
{
    struct charge alone = {0};
    spent_free(NULL, block_of(SPENT_MIN), SPENT_MIN);
    spent_free(&alone, block_of(SPENT_MIN), SPENT_MIN);
    ck_assert_uint_eq(told, 0);
}
END_TEST

START_TEST(the_top_pays_until_it_is_gone)
{
    const size_t size = 5 * SPENT_PIECE + 123;
    spent_free(&query, block_of(size), size);
    ck_assert_uint_eq(query.total, 0);
    ck_assert_uint_eq(top.bytes[CHARGE_CACHE], size);
#if !ASAN
    ck_assert(spent_give_back(&spent));
    ck_assert_uint_eq(top.bytes[CHARGE_CACHE], size - SPENT_PIECE);
#endif
    (void)give_back_all();
}
END_TEST

START_TEST(the_taker_is_told_once_until_all_is_gone)
{
    for (size_t round = 1; round <= 3; round++) {
        spent_free(&query, block_of(SPENT_MIN), SPENT_MIN);
        spent_free(&top, block_of(SPENT_MIN), SPENT_MIN);
        ck_assert_uint_eq(told, round);
        ck_assert_uint_eq(give_back_all(), 2);
    }
}
END_TEST

/* Shortened to two pieces at most, and freed; AddressSanitizer's allocator does not shorten. */
static size_t calls_for(size_t size)
{
    return ASAN || size <= 2 * SPENT_PIECE ? 1 : (size - 1) / SPENT_PIECE;
}

START_TEST(a_call_gives_back_a_piece)
{
    uint64_t seed = 11;
    for (size_t round = 0; round < 20; round++) {
        size_t calls = 0;
        const size_t blocks = 1 + random_below(&seed, 4);
        for (size_t i = 0; i < blocks; i++) {
            const size_t size = SPENT_MIN + random_below(&seed, 6 * SPENT_PIECE);
            spent_free(&query, block_of(size), size);
            calls += calls_for(size);
        }
        ck_assert_uint_eq(give_back_all(), calls);
    }
}
END_TEST

START_TEST(messages_and_responses_end_here)
{
    struct msg *msg = msg_new(3 * SPENT_PIECE, &query);
    const size_t capacity = msg_capacity(msg);
    msg_release(&msg);
    ck_assert_uint_eq(query.total, 0);
    ck_assert_uint_eq(top.bytes[CHARGE_CACHE], capacity);
    struct chain chain;
    chain_init(&chain, &query);
    (void)chain_reserve(&chain, SPENT_PIECE);
    chain_fini(&chain);
    ck_assert_uint_eq(query.total, 0);
    ck_assert_uint_gt(top.bytes[CHARGE_CACHE], capacity + SPENT_PIECE);
    (void)give_back_all();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spent");
    TCase *tcase = tcase_create("spent");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, small_blocks_go_at_once);
    tcase_add_test(tcase, without_a_taker_all_goes_at_once);
    tcase_add_test(tcase, the_top_pays_until_it_is_gone);
    tcase_add_test(tcase, the_taker_is_told_once_until_all_is_gone);
    tcase_add_test(tcase, a_call_gives_back_a_piece);
    tcase_add_test(tcase, messages_and_responses_end_here);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
