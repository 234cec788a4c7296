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

static bool admit_small(void *owner, size_t declared, struct error *err)
{
    size_t *asked = owner;
    *asked = declared;
    return declared < 10 || error_set(err, ERROR_RESOURCE_EXHAUSTED, "not now");
}

START_TEST(the_owner_may_refuse)
{
    struct inbox inbox;
    struct error err;
    struct msg *msg;
    size_t asked = 0;
    inbox_init(&inbox, 256, &charge);
    inbox.admit = admit_small;
    inbox.owner = &asked;
    struct slice chunk = slice_of("\0\0\0\0\2ab\0\0\0\0\x0c", 12);
    ck_assert_int_eq(inbox_feed(&inbox, &chunk, &msg, &err), INBOX_MESSAGE);
    ck_assert_uint_eq(asked, 2);
    msg_release(&msg);
    ck_assert_int_eq(inbox_feed(&inbox, &chunk, &msg, &err), INBOX_BROKEN);
    ck_assert_uint_eq(asked, 12);
    ck_assert_str_eq(err.text, "not now");
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
    tcase_add_test(cases, the_owner_may_refuse);
    suite_add_tcase(suite, cases);
    return unit_run(suite);
}
