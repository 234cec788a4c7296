// SPDX-License-Identifier: Apache-2.0
/* DATA bytes become messages, however they are cut. */
#include "liaison/http2/inbox.h"
#include "tests/unit/frame/unit.h"

static struct charge charge;

static void setup(void)
{
    charge = (struct charge){0};
}

static void teardown(void)
{
    ck_assert_uint_eq(charge.total, 0);
}

/* Three messages of 3, 0 and 300 bytes. */
static size_t sample(uint8_t bytes[400])
{
    static const uint32_t sizes[] = {3, 0, 300};
    size_t len = 0;
    for (size_t i = 0; i < 3; i++) {
        grpc_write_prefix(bytes + len, sizes[i]);
        len += GRPC_PREFIX_BYTES;
        memset(bytes + len, 'a' + (int)i, sizes[i]);
        len += sizes[i];
    }
    return len;
}

START_TEST(every_cut_gives_the_same_messages)
{
    uint8_t bytes[400];
    const size_t len = sample(bytes);
    for (size_t step = 1; step <= len; step++) {
        struct inbox inbox;
        struct error err;
        size_t sizes[3] = {0};
        size_t count = 0;
        inbox_init(&inbox, 300, &charge);
        for (size_t at = 0; at < len; at += step) {
            struct slice chunk = slice_of(bytes + at, step < len - at ? step : len - at);
            struct msg *msg;
            while (inbox_feed(&inbox, &chunk, &msg, &err) == INBOX_MESSAGE) {
                ck_assert_uint_lt(count, 3);
                sizes[count++] = msg_bytes(msg).len;
                msg_release(&msg);
            }
            ck_assert_uint_eq(chunk.len, 0);
        }
        ck_assert_uint_eq(count, 3);
        ck_assert(sizes[0] == 3 && sizes[1] == 0 && sizes[2] == 300);
        ck_assert(inbox_end(&inbox, &err));
        inbox_fini(&inbox);
    }
}
END_TEST

START_TEST(every_truncation_is_told)
{
    uint8_t bytes[400];
    const size_t len = sample(bytes);
    for (size_t end = 0; end <= len; end++) {
        struct inbox inbox;
        struct error err = {.code = ERROR_NONE};
        struct msg *msg;
        struct slice chunk = slice_of(bytes, end);
        inbox_init(&inbox, 300, &charge);
        while (inbox_feed(&inbox, &chunk, &msg, &err) == INBOX_MESSAGE) {
            msg_release(&msg);
        }
        const bool whole = end == 0 || end == 8 || end == 13 || end == len;
        ck_assert_msg(inbox_end(&inbox, &err) == whole, "%zu: %s", end, err.text);
        ck_assert_int_eq(err.code, whole ? ERROR_NONE : ERROR_INTERNAL);
        inbox_fini(&inbox);
    }
}
END_TEST

static const struct {
    const char *prefix;
    const char *encoding;
    enum error_code code;
    const char *text;
} broken[] = {
    {"\1\0\0\0\1", "", ERROR_INTERNAL,
     "a message is flagged as compressed, but no grpc-encoding was declared"},
    {"\1\0\0\0\1", "gzip", ERROR_UNIMPLEMENTED,
     "grpc-encoding \"gzip\" is not supported, only identity"},
    {"\2\0\0\0\1", "gzip", ERROR_INTERNAL,
     "the compressed flag of a message is 2, expected 0 or 1"},
    {"\0\0\0\1\1", "", ERROR_RESOURCE_EXHAUSTED,
     "grpc: received message larger than max (257 vs. 256)"},
    {"\0\xff\xff\xff\xff", "", ERROR_RESOURCE_EXHAUSTED,
     "grpc: received message larger than max (4294967295 vs. 256)"},
};

START_TEST(bad_prefixes_are_refused_before_anything_is_kept)
{
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        struct inbox inbox;
        struct error err;
        struct msg *msg;
        struct slice chunk = slice_of(broken[i].prefix, GRPC_PREFIX_BYTES);
        inbox_init(&inbox, 256, &charge);
        inbox.encoding = slice_str(broken[i].encoding);
        ck_assert_int_eq(inbox_feed(&inbox, &chunk, &msg, &err), INBOX_BROKEN);
        ck_assert_int_eq(err.code, broken[i].code);
        ck_assert_str_eq(err.text, broken[i].text);
        ck_assert_uint_eq(charge.peak, 0);
        inbox_fini(&inbox);
    }
}
END_TEST

/* What the owner was asked. */
struct asked {
    size_t count;
    size_t declared;
    struct slice expected; /* the whole message */
};

static bool admit_small(void *owner, size_t declared, struct slice head, struct error *err)
{
    struct asked *asked = owner;
    const size_t wanted = declared < INBOX_HEAD_BYTES ? declared : INBOX_HEAD_BYTES;
    ck_assert_uint_eq(head.len, wanted);
    ck_assert(slice_equal(head, slice_of(asked->expected.ptr, wanted)));
    ck_assert_uint_eq(charge.total, 0); /* nothing is kept yet */
    asked->count++;
    asked->declared = declared;
    return declared < 200 || error_set(err, ERROR_RESOURCE_EXHAUSTED, "not now");
}

/* Feeds all of it in steps of that size; the last result. */
static enum inbox_result feed_in_steps(struct inbox *inbox, struct slice bytes, size_t step,
                                       struct msg **msg, struct error *err)
{
    enum inbox_result result = INBOX_NEED_MORE;
    for (size_t at = 0; at < bytes.len && result == INBOX_NEED_MORE; at += step) {
        struct slice chunk =
            slice_of(bytes.ptr + at, step < bytes.len - at ? step : bytes.len - at);
        ck_assert(inbox_is_amid(inbox) == (at > 0));
        result = inbox_feed(inbox, &chunk, msg, err);
    }
    return result;
}

/* A SendResponse whose body, a frame's bytes, begins behind the message_id and its own length. */
static struct slice response_of(uint8_t *bytes, size_t len)
{
    grpc_write_prefix(bytes, (uint32_t)len);
    uint8_t *message = bytes + GRPC_PREFIX_BYTES;
    memset(message, 0, len);
    if (len >= 5) {
        const size_t body = len - 5;
        memcpy(message, "\x08\x07\x1a", 3);
        message[3] = (uint8_t)(0x80 | (body & 0x7f));
        message[4] = (uint8_t)(body >> 7);
    }
    return slice_of(bytes, GRPC_PREFIX_BYTES + len);
}

START_TEST(the_owner_is_asked_once_with_the_head)
{
    static const size_t sizes[] = {0, 1, 4, 31, 32, 33, 63, 64, 65, 199, 200, 1000};
    uint8_t bytes[GRPC_PREFIX_BYTES + 1000];
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const struct slice sent = response_of(bytes, sizes[i]);
        const struct slice message = slice_of(bytes + GRPC_PREFIX_BYTES, sizes[i]);
        for (size_t step = 1; step <= sent.len; step++) {
            struct asked asked = {.expected = message};
            struct inbox inbox;
            struct error err;
            struct msg *msg;
            inbox_init(&inbox, 1000, &charge);
            inbox.admit = admit_small;
            inbox.owner = &asked;
            const enum inbox_result result = feed_in_steps(&inbox, sent, step, &msg, &err);
            ck_assert_uint_eq(asked.count, 1);
            ck_assert_uint_eq(asked.declared, sizes[i]);
            if (sizes[i] >= 200) {
                ck_assert_int_eq(result, INBOX_BROKEN);
                ck_assert_str_eq(err.text, "not now");
            } else {
                ck_assert_int_eq(result, INBOX_MESSAGE);
                ck_assert(slice_equal(msg_bytes(msg), message));
                ck_assert(sizes[i] <= 5 || (uintptr_t)(msg_bytes(msg).ptr + 5) % 8 == 0);
                msg_release(&msg);
            }
            inbox_fini(&inbox);
        }
    }
}
END_TEST

START_TEST(part_of_a_message_is_seen)
{
    uint8_t bytes[GRPC_PREFIX_BYTES + 100];
    const struct slice sent = response_of(bytes, 100);
    struct inbox inbox;
    struct msg *msg;
    inbox_init(&inbox, 1000, &charge);
    for (size_t i = 0; i < sent.len; i++) {
        struct slice byte = slice_of(sent.ptr + i, 1);
        ck_assert(inbox_is_amid(&inbox) == (i > 0));
        ck_assert_int_eq(inbox_feed(&inbox, &byte, &msg, NULL),
                         i + 1 < sent.len ? INBOX_NEED_MORE : INBOX_MESSAGE);
    }
    ck_assert(!inbox_is_amid(&inbox));
    msg_release(&msg);
    inbox_fini(&inbox);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("inbox");
    TCase *cases = tcase_create("inbox");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, every_cut_gives_the_same_messages);
    tcase_add_test(cases, every_truncation_is_told);
    tcase_add_test(cases, bad_prefixes_are_refused_before_anything_is_kept);
    tcase_add_test(cases, the_owner_is_asked_once_with_the_head);
    tcase_add_test(cases, part_of_a_message_is_seen);
    suite_add_tcase(suite, cases);
    return unit_run(suite);
}
