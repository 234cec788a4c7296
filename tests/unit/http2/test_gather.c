// SPDX-License-Identifier: Apache-2.0
/* What is put into a gather is what its pieces spell, in order, until the last has been written. */
#include "liaison/http2/gather.h"
#include "tests/unit/frame/unit.h"

static struct charge charge;
static struct gather *gather;
static struct chain chain;
static uint8_t expected[1 << 20];
static size_t expected_len;

static void setup(void)
{
    charge = (struct charge){0};
    gather = gather_new(&charge);
    chain_init(&chain, &charge);
    expected_len = 0;
}

static void teardown(void)
{
    chain_fini(&chain);
    gather_free(&gather);
    ck_assert_uint_eq(charge.total, 0);
}

static void expect(const void *bytes, size_t len)
{
    memcpy(expected + expected_len, bytes, len);
    expected_len += len;
}

static void copy(const char *text)
{
    gather_copy(gather, slice_str(text));
    expect(text, strlen(text));
}

/* A block of its own. */
static void add_block(size_t len, int byte)
{
    struct chain block;
    chain_init(&block, &charge);
    memset(chain_reserve(&block, len), byte, len);
    chain_commit(&block, len);
    chain_join(&block, &chain);
}

static void take(size_t len)
{
    size_t left = len;
    for (const struct chain_block *block = chain.first; left > 0; block = block->next) {
        const size_t part = block->len < left ? block->len : left;
        expect(block->bytes + block->begin, part);
        left -= part;
    }
    gather_take(gather, &chain, len);
}

/* Writes it all, `step` bytes at a time, and compares. */
static void write_all(size_t step)
{
    size_t at = 0;
    while (!gather_is_empty(gather)) {
        size_t left = step;
        for (int i = gather->first; i < gather->end && left > 0; i++) {
            const size_t len = gather->pieces[i].iov_len;
            const size_t part = len < left ? len : left;
            ck_assert(memcmp(gather->pieces[i].iov_base, expected + at, part) == 0);
            at += part;
            left -= part;
        }
        gather_advance(gather, step - left);
    }
    ck_assert_uint_eq(at, expected_len);
}

START_TEST(small_pieces_become_one)
{
    copy("HEADERS");
    add_block(100, 'p');
    take(100);
    copy("trailers");
    ck_assert_int_eq(gather->end - gather->first, 1);
    write_all(7);
}
END_TEST

START_TEST(large_payloads_are_pointed_at)
{
    copy("header");
    add_block(10000, 'a');
    add_block(3, 'b');
    add_block(10000, 'c');
    const uint8_t *block = chain.first->bytes + chain.first->begin;
    take(16384);
    copy("next");
    take(chain.len);
    ck_assert_ptr_eq(gather->pieces[1].iov_base, block);
    ck_assert_ptr_null(chain.first);
    ck_assert_uint_gt(charge.bytes[CHARGE_RESPONSE], 20000);
    write_all(1000);
    ck_assert_uint_eq(charge.bytes[CHARGE_RESPONSE], 0);
}
END_TEST

START_TEST(a_small_rest_of_a_block_that_is_pointed_at)
{
    add_block(10100, 'a');
    take(10000);
    take(100);
    ck_assert_ptr_null(chain.first);
    write_all(333);
}
END_TEST

START_TEST(a_chain_that_ends_early_leaves_what_is_pointed_at)
{
    add_block(20000, 'a');
    add_block(20000, 'b');
    take(16384);
    gather_shelter(gather, &chain);
    chain_fini(&chain);
    write_all(5000);
}
END_TEST

START_TEST(room_is_enough_for_any_frame)
{
    unsigned frames = 0;
    for (; gather_has_room(gather); frames++) {
        copy("123456789");
        for (int i = 0; i < 16; i++) { /* the most pieces: large and small ones in turn */
            add_block(1000, 'l');
            add_block(24, 's');
        }
        take(GATHER_FRAME_BYTES);
    }
    ck_assert_uint_ge(frames, 2);
    write_all(100000);
    for (frames = 0; gather_has_room(gather); frames++) {
        copy("123456789");
        for (int i = 0; i < 512; i++) {
            add_block(32, 's');
        }
        take(GATHER_FRAME_BYTES);
    }
    ck_assert_uint_ge(frames, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gather");
    TCase *cases = tcase_create("gather");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, small_pieces_become_one);
    tcase_add_test(cases, large_payloads_are_pointed_at);
    tcase_add_test(cases, a_small_rest_of_a_block_that_is_pointed_at);
    tcase_add_test(cases, a_chain_that_ends_early_leaves_what_is_pointed_at);
    tcase_add_test(cases, room_is_enough_for_any_frame);
    suite_add_tcase(suite, cases);
    return unit_run(suite);
}
