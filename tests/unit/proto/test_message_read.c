// SPDX-License-Identifier: Apache-2.0
/* Messages of servers that are as they ought to be, and such as cost more than anybody has. */
#include "proto/message_read.h"
#include "proto/pbw.h"
#include "proto/schema.pb-c.h"
#include "tests/unit/frame/unit.h"

#include <stdlib.h>

#define PAGE (&banyandb__schema__v1__list_schemas_response__descriptor)

/* A page of objects that have nothing but such an id. */
static struct slice page_of(size_t count, struct slice id)
{
    const size_t property = id.len == 0 ? 0 : pbw_bytes_size(2, id.len);
    uint8_t *bytes = malloc(count * pbw_bytes_size(1, property) + 1);
    uint8_t *at = bytes;
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < count; i++) {
        at = pbw_varint(pbw_key(at, 1, PBW_BYTES), property);
        at = id.len == 0 ? at : pbw_bytes(at, 2, id);
    }
    return slice_of(bytes, (size_t)(at - bytes));
}

static enum error_code read_page(size_t count, struct slice id)
{
    struct error err = {.code = ERROR_NONE};
    const struct slice bytes = page_of(count, id);
    ProtobufCMessage *message = message_read(bytes, PAGE, &err);
    ck_assert((message == NULL) == (err.code != ERROR_NONE));
    if (message != NULL) {
        const Banyandb__Schema__V1__ListSchemasResponse *page =
            (const Banyandb__Schema__V1__ListSchemasResponse *)message;
        ck_assert_uint_eq(page->n_properties, count);
    }
    protobuf_c_message_free_unpacked(message, NULL);
    free((void *)(uintptr_t)bytes.ptr);
    return err.code;
}

START_TEST(pages_are_read)
{
    static uint8_t text[100000];
    memset(text, 'a', sizeof text);
    ck_assert_int_eq(read_page(0, slice_of("", 0)), ERROR_NONE);
    ck_assert_int_eq(read_page(100, slice_str("measure_sw_metric/cpm")), ERROR_NONE);
    ck_assert_int_eq(read_page(100, slice_of(text, sizeof text)), ERROR_NONE);
    ck_assert_int_eq(read_page(10000, slice_of("", 0)), ERROR_NONE);
}
END_TEST

/* What is in the texts is for those who read them. */
START_TEST(texts_may_hold_anything)
{
    ck_assert_int_eq(read_page(1, slice_of("a\0b", 3)), ERROR_NONE);
    ck_assert_int_eq(read_page(1, slice_of("\xff", 1)), ERROR_NONE);
}
END_TEST

/* 10 MiB of empty objects would take 600. */
START_TEST(a_message_that_takes_many_times_its_bytes)
{
    ck_assert_int_eq(read_page((size_t)5 << 20, slice_of("", 0)), ERROR_RESOURCE_EXHAUSTED);
}
END_TEST

START_TEST(malformed_bytes)
{
    struct error err = {.code = ERROR_NONE};
    ck_assert_ptr_null(message_read(slice_of("\x0a\x05", 2), PAGE, &err));
    ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
    ck_assert_str_eq(err.text, "2 bytes found that are no banyandb.schema.v1.ListSchemasResponse");
    ck_assert_ptr_null(message_read(slice_of("\x0a\x05", 2), PAGE, NULL));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("message_read");
    TCase *tests = tcase_create("message_read");
    tcase_add_test(tests, pages_are_read);
    tcase_add_test(tests, texts_may_hold_anything);
    tcase_add_test(tests, a_message_that_takes_many_times_its_bytes);
    tcase_add_test(tests, malformed_bytes);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
