// SPDX-License-Identifier: Apache-2.0
/* Header fields: kept in order, found by name, bounded. */
#include "liaison/http2/headers.h"
#include "tests/unit/frame/unit.h"

#define LIMIT 65536

START_TEST(fields_are_found_and_walked)
{
    struct headers headers;
    headers_init(&headers, LIMIT, NULL);
    headers_add(&headers, slice_str(":path"), slice_str("/a"));
    headers_add(&headers, slice_str("x"), slice_str(""));
    headers_add(&headers, slice_str("x"), slice_str("second"));
    headers_add(&headers, slice_str(""), slice_str("nameless"));
    ck_assert(slice_equal(headers_get(&headers, ":path"), slice_str("/a")));
    ck_assert_ptr_nonnull(headers_get(&headers, "x").ptr);
    ck_assert_uint_eq(headers_get(&headers, "x").len, 0);
    ck_assert_ptr_null(headers_get(&headers, "X").ptr);
    ck_assert_ptr_null(headers_get(&headers, "xx").ptr);
    struct headers_field field;
    size_t count = 0;
    for (size_t at = 0; headers_next(&headers, &at, &field);) {
        count++;
    }
    ck_assert_uint_eq(count, 4);
    ck_assert(slice_equal(field.value, slice_str("nameless")));
    headers_clear(&headers);
    ck_assert_ptr_null(headers_get(&headers, "x").ptr);
    headers_fini(&headers);
}
END_TEST

START_TEST(what_is_kept_is_bounded)
{
    char value[1000];
    memset(value, 'v', sizeof value);
    struct headers headers;
    headers_init(&headers, LIMIT, NULL);
    headers_add(&headers, slice_str("first"), slice_str("1"));
    for (int i = 0; i < 1000; i++) {
        headers_add(&headers, slice_str("long"), slice_of(value, sizeof value));
    }
    ck_assert(headers.overflowed);
    ck_assert_uint_le(headers.len, LIMIT);
    ck_assert_uint_gt(headers.len, LIMIT - 1100);
    ck_assert(slice_equal(headers_get(&headers, "first"), slice_str("1")));
    headers_fini(&headers);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("headers");
    TCase *cases = tcase_create("headers");
    tcase_add_test(cases, fields_are_found_and_walked);
    tcase_add_test(cases, what_is_kept_is_bounded);
    suite_add_tcase(suite, cases);
    return unit_run(suite);
}
