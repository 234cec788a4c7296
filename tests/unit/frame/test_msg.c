// SPDX-License-Identifier: Apache-2.0
/* Messages: however the bytes arrive, the body lands on a multiple of 8, and the charge is true. */
#include "frame/asan.h"
#include "frame/envelope.h"
#include "frame/msg.h"
#include "tests/support/frame_builder.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"

static struct charge executor;
static struct charge charge;

static void setup(void)
{
    executor = (struct charge){0};
    charge = (struct charge){.parent = &executor};
}

/* Every test ends with nothing held. */
static void teardown(void)
{
    msg_poison_released(false);
    ck_assert_uint_eq(charge.total, 0);
    ck_assert_uint_eq(charge.count[CHARGE_MESSAGE], 0);
    ck_assert_uint_eq(executor.total, 0);
}

/* The linker sends free() here: what the last release gives back is looked at while it is ours. */
void __real_free(void *ptr);
void __wrap_free(void *ptr);

static struct slice watched;
static bool was_poisoned;

void __wrap_free(void *ptr)
{
    for (size_t i = 0; i < watched.len; i++) {
        was_poisoned = watched.ptr[i] == MSG_POISON && (i == 0 || was_poisoned);
    }
    __real_free(ptr);
}

/* A bare frame in a SendResponse, with its first bytes at 0x00. */
static uint8_t *response(uint64_t message_id, size_t body_len, size_t *len_out)
{
    uint8_t *body = calloc(1, body_len + 1);
    for (size_t i = 1; i < body_len; i++) {
        body[i] = (uint8_t)i;
    }
    uint8_t *bytes = frame_builder_send_response(message_id, (struct slice){0},
                                                 slice_of(body, body_len), len_out);
    free(body);
    return bytes;
}

static void check_spare(const struct msg *msg)
{
    struct slice bytes = msg_bytes(msg);
    for (size_t i = 0; i < MSG_SPARE; i++) {
        ck_assert_uint_eq(bytes.ptr[bytes.len + i], 0);
    }
}

START_TEST(whole_messages)
{
    struct msg *msg = msg_copy_of(slice_str("hello"), &charge);
    ck_assert(msg_state(msg) == MSG_READY);
    ck_assert(slice_equal(msg_bytes(msg), slice_str("hello")));
    ck_assert_uint_eq(charge.total, msg_capacity(msg));
    ck_assert_uint_ge(msg_capacity(msg), 5 + MSG_SPARE);
    check_spare(msg);
    msg_release(&msg);
    ck_assert_ptr_null(msg);
    msg_release(&msg);
}
END_TEST

START_TEST(empty_messages)
{
    struct msg *msg = msg_new(0, &charge);
    ck_assert(msg_state(msg) == MSG_READY);
    ck_assert_uint_eq(msg_bytes(msg).len, 0);
    ck_assert(msg_append(msg, (struct slice){0}) == MSG_READY);
    check_spare(msg);
    ck_assert(msg_append(msg, slice_str("x")) == MSG_BROKEN);
    msg_release(&msg);
    msg = msg_copy_of((struct slice){0}, NULL);
    ck_assert(msg_state(msg) == MSG_READY);
    msg_release(&msg);
}
END_TEST

START_TEST(surplus_is_not_stored)
{
    struct msg *msg = msg_new(4, &charge);
    ck_assert(msg_append(msg, slice_str("ab")) == MSG_NEED_MORE);
    ck_assert(msg_append(msg, slice_str("cdef")) == MSG_BROKEN);
    ck_assert(msg_append(msg, (struct slice){0}) == MSG_BROKEN);
    ck_assert(slice_equal(msg_bytes(msg), slice_str("abcd")));
    msg_release(&msg);
}
END_TEST

START_TEST(counts)
{
    struct msg *msg = msg_copy_of(slice_str("shared"), &charge);
    struct msg *second = msg_retain(msg);
    size_t capacity = msg_capacity(msg);
    ck_assert_uint_eq(charge.total, capacity); /* once, however many hold it */
    msg_release(&msg);
    ck_assert_uint_eq(charge.total, capacity);
    ck_assert(slice_equal(msg_bytes(second), slice_str("shared")));
    msg_release(&second);
}
END_TEST

/* A message that crosses threads is on no account on the way. */
START_TEST(accounts)
{
    struct charge other = {0};
    struct msg *msg = msg_copy_of(slice_str("handed over"), &charge);
    msg_recharge(msg, NULL);
    ck_assert_uint_eq(charge.total, 0);
    msg_recharge(msg, &other);
    ck_assert_uint_eq(other.total, msg_capacity(msg));
    ck_assert_uint_eq(other.count[CHARGE_MESSAGE], 1);
    msg_release(&msg);
    ck_assert_uint_eq(other.total, 0);
}
END_TEST

static void check_body(const struct msg *msg, struct slice expected)
{
    ck_assert(msg_state(msg) == MSG_READY);
    ck_assert(slice_equal(msg_bytes(msg), expected));
    check_spare(msg);
    struct envelope envelope;
    ck_assert(envelope_read(msg_bytes(msg), &envelope, NULL));
    if (envelope.body.len > 0) {
        ck_assert_uint_eq((uintptr_t)envelope.body.ptr % 8, 0);
    }
}

/* All splits of one message into two chunks, for ids that move the body through all offsets. */
START_TEST(bodies_land_on_a_multiple_of_8)
{
    static const uint64_t ids[] = {0, 1, 300, 70000, 1 << 28, UINT64_C(1) << 40, UINT64_MAX};
    static const size_t lens[] = {0, 1, 2, 31, 32, 33, 127, 128, 500, 20000};
    for (size_t k = 0; k < 7 * 10; k++) {
        size_t len;
        uint8_t *bytes = response(ids[k / 10], lens[k % 10], &len);
        for (size_t cut = 0; cut <= len && cut < 64; cut++) {
            struct msg *msg = msg_new(len, &charge);
            (void)msg_append(msg, slice_of(bytes, cut));
            (void)msg_append(msg, slice_of(bytes + cut, len - cut));
            check_body(msg, slice_of(bytes, len));
            msg_release(&msg);
        }
        free(bytes);
    }
}
END_TEST

START_TEST(byte_by_byte)
{
    size_t len;
    uint8_t *bytes = response(300, 500, &len);
    struct msg *msg = msg_new(len, &charge);
    for (size_t i = 0; i < len; i++) {
        ck_assert(msg_append(msg, slice_of(bytes + i, 1)) ==
                  (i + 1 < len ? MSG_NEED_MORE : MSG_READY));
        ck_assert(slice_equal(msg_bytes(msg), slice_of(bytes, i + 1)));
    }
    check_body(msg, slice_of(bytes, len));
    msg_release(&msg);
    free(bytes);
}
END_TEST

/* A frame inside an InternalQueryResponse that comes first is aligned too. */
START_TEST(inner_frames_land_on_a_multiple_of_8)
{
    for (uint64_t id = 0; id < 1 << 21; id = 2 * id + 1) {
        uint8_t frame[200] = {0, 'V', 'F', 'R', 4};
        size_t inner_len;
        size_t len;
        uint8_t *inner = frame_builder_internal_response((struct slice){0},
                                                         slice_of(frame, sizeof frame), &inner_len);
        uint8_t *bytes =
            frame_builder_send_response(id, (struct slice){0}, slice_of(inner, inner_len), &len);
        struct msg *msg = msg_copy_of(slice_of(bytes, len), &charge);
        struct envelope envelope;
        struct answer answer;
        ck_assert(envelope_read(msg_bytes(msg), &envelope, NULL));
        ck_assert(envelope_answer(envelope.body, &answer, NULL));
        ck_assert_uint_eq((uintptr_t)answer.frame.ptr % 8, 0);
        msg_release(&msg);
        free(inner);
        free(bytes);
    }
}
END_TEST

START_TEST(any_bytes_in_any_chunks)
{
    uint64_t seed = 7;
    for (size_t round = 0; round < 3000; round++) {
        uint8_t bytes[200];
        size_t len = random_below(&seed, sizeof bytes);
        for (size_t i = 0; i < len; i++) {
            bytes[i] = (uint8_t)random_below(&seed, 8) << random_below(&seed, 6);
        }
        struct msg *msg = msg_new(len, &charge);
        for (size_t at = 0; at < len;) {
            size_t chunk = 1 + random_below(&seed, len - at);
            (void)msg_append(msg, slice_of(bytes + at, chunk));
            at += chunk;
        }
        ck_assert(msg_state(msg) == MSG_READY);
        ck_assert(slice_equal(msg_bytes(msg), slice_of(bytes, len)));
        check_spare(msg);
        msg_release(&msg);
    }
}
END_TEST

/* What teardown looks at does tell a forgotten release. */
START_TEST(a_leak_shows_in_the_charge)
{
    struct msg *msg = msg_copy_of(slice_str("forgotten"), &charge);
    struct msg *leaked = msg_retain(msg);
    msg_release(&msg);
    ck_assert_uint_eq(charge.count[CHARGE_MESSAGE], 1);
    ck_assert_uint_gt(charge.total, 0);
    ck_assert_uint_eq(executor.count[CHARGE_MESSAGE], 1);
    msg_release(&leaked);
}
END_TEST

/* A slice that outlives its message reads as MSG_POISON at the moment the bytes are given back. */
START_TEST(released_bytes_are_overwritten)
{
    static const bool switches[] = {false, true};
    for (size_t i = 0; i < 2; i++) {
        msg_poison_released(switches[i]);
        struct msg *msg = msg_copy_of(slice_str("a row that somebody still looks at"), &charge);
        struct msg *second = msg_retain(msg);
        watched = msg_bytes(msg);
        msg_release(&msg);
        ck_assert_uint_eq(watched.ptr[0], 'a'); /* still held */
        was_poisoned = false;
        msg_release(&second);
        struct slice stale = watched;
        watched = (struct slice){0};
        ck_assert(was_poisoned == switches[i]);
#if ASAN
        ck_assert(__asan_address_is_poisoned(stale.ptr)); /* any use would be reported */
#else
        (void)stale;
#endif
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("msg");
    TCase *tcase = tcase_create("msg");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, whole_messages);
    tcase_add_test(tcase, empty_messages);
    tcase_add_test(tcase, surplus_is_not_stored);
    tcase_add_test(tcase, counts);
    tcase_add_test(tcase, accounts);
    tcase_add_test(tcase, bodies_land_on_a_multiple_of_8);
    tcase_add_test(tcase, byte_by_byte);
    tcase_add_test(tcase, inner_frames_land_on_a_multiple_of_8);
    tcase_add_test(tcase, any_bytes_in_any_chunks);
    tcase_add_test(tcase, a_leak_shows_in_the_charge);
    tcase_add_test(tcase, released_bytes_are_overwritten);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
