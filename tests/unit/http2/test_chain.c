// SPDX-License-Identifier: Apache-2.0
/* Chains: bytes come out as they went in, blocks never move, the charge is what is held. */
#include "frame/chain.h"
#include "tests/unit/frame/unit.h"

static struct charge charge;
static struct chain chain;

static void setup(void)
{
    charge = (struct charge){0};
    chain_init(&chain, &charge);
}

static void teardown(void)
{
    chain_fini(&chain);
    ck_assert_uint_eq(charge.total, 0);
    ck_assert_uint_eq(charge.count[CHARGE_RESPONSE], 0);
    ck_assert_uint_eq(chain.len, 0);
    ck_assert_uint_eq(chain.capacity, 0);
}

/* The bytes 0, 1, 2 … modulo 251. */
static void append_counted(struct chain *to, size_t from, size_t len)
{
    uint8_t *bytes = malloc(len + 1);
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (uint8_t)((from + i) % 251);
    }
    chain_append(to, slice_of(bytes, len));
    free(bytes);
}

static void expect_counted(struct chain *from_chain, size_t from, size_t len, size_t step)
{
    while (len > 0) {
        struct slice front = chain_front(from_chain);
        ck_assert_uint_gt(front.len, 0);
        const size_t part = front.len < step ? front.len : step;
        const size_t taken = part < len ? part : len;
        for (size_t i = 0; i < taken; i++) {
            if (front.ptr[i] != (from + i) % 251) {
                ck_abort_msg("byte %zu is %u", from + i, front.ptr[i]);
            }
        }
        chain_drop(from_chain, taken);
        from += taken;
        len -= taken;
    }
}

START_TEST(bytes_come_out_as_they_went_in)
{
    size_t total = 0;
    for (size_t len = 0; len < 3000; len += 7) {
        append_counted(&chain, total, len);
        total += len;
    }
    ck_assert_uint_eq(chain.len, total);
    ck_assert_uint_ge(charge.total, chain.capacity);
    ck_assert_uint_le(charge.total, chain.capacity + 64 * charge.count[CHARGE_RESPONSE]);
    expect_counted(&chain, 0, total, 1000);
    ck_assert_uint_eq(chain.len, 0);
    ck_assert_ptr_null(chain_front(&chain).ptr);
}
END_TEST

START_TEST(reserved_bytes_lie_in_one_place)
{
    static const size_t sizes[] = {1, 1000, 1, 100000, 300000, 1000000, 10};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint8_t *at = chain_reserve(&chain, sizes[i]);
        memset(at, (int)i, sizes[i]);
        chain_commit(&chain, sizes[i]);
        ck_assert_ptr_eq(at, chain.last->bytes + chain.last->begin + chain.last->len - sizes[i]);
    }
    ck_assert_uint_eq(chain.len, 1401012);
}
END_TEST

START_TEST(blocks_stay_where_they_are)
{
    append_counted(&chain, 0, 10);
    const uint8_t *first = chain_front(&chain).ptr;
    append_counted(&chain, 10, 100000);
    ck_assert_ptr_eq(chain_front(&chain).ptr, first);
    struct chain other;
    chain_init(&other, NULL);
    chain_move(&chain, &other);
    ck_assert_ptr_eq(chain_front(&other).ptr, first);
    ck_assert_uint_eq(charge.total, 0);
    expect_counted(&other, 0, 100010, 4096);
    chain_fini(&other);
}
END_TEST

START_TEST(an_unused_reservation_does_no_harm)
{
    chain_reserve(&chain, 10);
    chain_commit(&chain, 0);
    chain_reserve(&chain, 5000);
    chain_commit(&chain, 0);
    ck_assert_ptr_null(chain_front(&chain).ptr);
    append_counted(&chain, 0, 6000);
    expect_counted(&chain, 0, 6000, 100);
}
END_TEST

START_TEST(prefixes_go_in_front)
{
    append_counted(&chain, 5, 3000);
    const size_t blocks = charge.count[CHARGE_RESPONSE];
    chain_prepend(&chain, slice_of("\0\1\2\3\4", 5));
    ck_assert_uint_eq(charge.count[CHARGE_RESPONSE], blocks);
    expect_counted(&chain, 0, 3005, 3);
    chain_prepend(&chain, slice_of("\0\1\2\3\4", 5));
    ck_assert_uint_eq(chain.len, 5);
    append_counted(&chain, 5, 10);
    chain_prepend(&chain, slice_of("\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17", 16));
    expect_counted(&chain, 0, 16, 16);
    expect_counted(&chain, 0, 15, 15);
}
END_TEST

START_TEST(chains_are_joined)
{
    struct charge other_charge = {0};
    struct chain other;
    chain_init(&other, &other_charge);
    append_counted(&other, 0, 5000);
    append_counted(&chain, 5000, 7000);
    chain_join(&chain, &other);
    ck_assert_uint_eq(charge.total, 0);
    ck_assert_uint_eq(other.len, 12000);
    chain_shift(&other, &chain);
    ck_assert_uint_gt(charge.total, 0);
    const size_t first = chain.len;
    expect_counted(&chain, 0, first, 17);
    expect_counted(&other, first, 12000 - first, 17);
    chain_fini(&other);
    ck_assert_uint_eq(other_charge.total, 0);
}
END_TEST

START_TEST(passed_blocks_stay_readable)
{
    struct chain spent;
    chain_init(&spent, &charge);
    for (size_t at = 0; at < 100000; at += 1000) {
        append_counted(&chain, at, 1000);
    }
    const uint8_t *first = chain_front(&chain).ptr;
    chain_pass(&chain, 60000, &spent);
    ck_assert_uint_eq(chain.len, 40000);
    ck_assert_uint_eq(spent.len, 0);
    ck_assert_ptr_nonnull(spent.first);
    ck_assert_uint_eq(first[10], 10);
    expect_counted(&chain, 60000, 40000, 1000);
    chain_fini(&spent);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chain");
    TCase *cases = tcase_create("chain");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, bytes_come_out_as_they_went_in);
    tcase_add_test(cases, reserved_bytes_lie_in_one_place);
    tcase_add_test(cases, blocks_stay_where_they_are);
    tcase_add_test(cases, an_unused_reservation_does_no_harm);
    tcase_add_test(cases, prefixes_go_in_front);
    tcase_add_test(cases, chains_are_joined);
    tcase_add_test(cases, passed_blocks_stay_readable);
    suite_add_tcase(suite, cases);
    return unit_run(suite);
}
