// SPDX-License-Identifier: Apache-2.0
/* Errors: codes and texts survive, long texts are cut where a character ends. */
#include "frame/error.h"
#include "tests/unit/frame/unit.h"

#include <string.h>

START_TEST(set_fills_and_returns_false)
{
    struct error err = {0};
    ck_assert(!error_set(&err, ERROR_DATA_LOSS, "column %d: %s", 3, "short"));
    ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
    ck_assert_str_eq(err.text, "column 3: short");
    ck_assert(!error_set(NULL, ERROR_DATA_LOSS, "nobody asked"));
}
END_TEST

START_TEST(prefix_keeps_code_and_text)
{
    struct error err = {0};
    error_set(&err, ERROR_NOT_FOUND, "measure");
    ck_assert(!error_prefix(&err, "node %s", "d1"));
    ck_assert_int_eq(err.code, ERROR_NOT_FOUND);
    ck_assert_str_eq(err.text, "node d1: measure");
    ck_assert(!error_prefix(NULL, "node"));
}
END_TEST

START_TEST(long_texts_are_cut)
{
    char text[4001];
    memset(text, 'x', sizeof text - 1);
    text[4000] = '\0';
    struct error err = {0};
    error_set(&err, ERROR_INTERNAL, "%s", text);
    ck_assert_uint_eq(strlen(err.text), sizeof err.text - 1);
    ck_assert_str_eq(err.text + sizeof err.text - 4, "...");
    error_prefix(&err, "%s", "front");
    ck_assert_uint_eq(strlen(err.text), sizeof err.text - 1);
    ck_assert(strncmp(err.text, "front: xxx", 10) == 0);
    ck_assert_str_eq(err.text + sizeof err.text - 4, "...");
    error_prefix(&err, "%s", text);
    ck_assert_uint_eq(strlen(err.text), sizeof err.text - 1);
    ck_assert_str_eq(err.text + sizeof err.text - 4, "...");
}
END_TEST

START_TEST(exactly_full_is_not_cut)
{
    struct error err = {0};
    char text[sizeof err.text];
    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    error_set(&err, ERROR_INTERNAL, "%s", text);
    ck_assert_str_eq(err.text, text);
}
END_TEST

START_TEST(a_cut_does_not_split_a_character)
{
    for (size_t shift = 0; shift < 4; shift++) {
        char text[2300] = "";
        memset(text, 'a', shift);
        for (size_t at = shift; at + 3 < 2250; at += 3) {
            memcpy(text + at, "\xe2\x82\xac", 4);
        }
        struct error err = {0};
        error_set(&err, ERROR_INTERNAL, "%s", text);
        size_t len = strlen(err.text);
        ck_assert_str_eq(err.text + len - 3, "...");
        ck_assert_uint_eq((len - 3 - shift) % 3, 0);
        ck_assert_uint_ge(len, sizeof err.text - 4);
    }
}
END_TEST

START_TEST(code_names)
{
    ck_assert_str_eq(error_code_name(ERROR_NONE), "OK");
    ck_assert_str_eq(error_code_name(ERROR_INVALID_ARGUMENT), "INVALID_ARGUMENT");
    ck_assert_str_eq(error_code_name(ERROR_UNAUTHENTICATED), "UNAUTHENTICATED");
    ck_assert_str_eq(error_code_name((enum error_code)17), "CODE_17");
    ck_assert_str_eq(error_code_name((enum error_code)99), "CODE_99");
    ck_assert_str_eq(error_code_name((enum error_code)100), "CODE_OTHER");
    ck_assert_str_eq(error_code_name((enum error_code) - 1), "CODE_OTHER");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("error");
    TCase *tcase = tcase_create("error");
    tcase_add_test(tcase, set_fills_and_returns_false);
    tcase_add_test(tcase, prefix_keeps_code_and_text);
    tcase_add_test(tcase, long_texts_are_cut);
    tcase_add_test(tcase, exactly_full_is_not_cut);
    tcase_add_test(tcase, a_cut_does_not_split_a_character);
    tcase_add_test(tcase, code_names);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
