// SPDX-License-Identifier: Apache-2.0
#include "proto/base64.h"
#include "tests/unit/frame/unit.h"

START_TEST(texts)
{
    static const struct {
        const char *text;
        const char *bytes; /* NULL = refused */
    } table[] = {
        {"", ""},
        {"Zg==", "f"},
        {"Zg", "f"},
        {"Zm8=", "fo"},
        {"Zm8", "fo"},
        {"Zm9v", "foo"},
        {"Zm9vYg==", "foob"},
        {"-_-_", "\xfb\xff\xbf"},
        {"+/+/", "\xfb\xff\xbf"},
        {"Z", NULL},
        {"Zm9vY", NULL},
        {"Zg=", NULL},
        {"Zg===", NULL},
        {"Z===", NULL},
        {"Zm 9v", NULL},
        {"Zm9\n", NULL},
        {"=", NULL},
        {"====", NULL},
        {"Zg==Zg==", NULL},
        {"Z\xc3\xa9", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint8_t bytes[64];
        size_t len = 99;
        struct slice text = slice_str(table[i].text);
        ck_assert_uint_le(base64_bound(text.len), sizeof bytes);
        bool good = base64_decode(text, bytes, &len);
        ck_assert_msg(good == (table[i].bytes != NULL), "row %zu", i);
        if (good) {
            ck_assert_uint_le(len, base64_bound(text.len));
            ck_assert(slice_equal(slice_of(bytes, len), slice_str(table[i].bytes)));
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base64");
    TCase *tcase = tcase_create("base64");
    tcase_add_test(tcase, texts);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
