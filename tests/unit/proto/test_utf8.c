// SPDX-License-Identifier: Apache-2.0
#include "proto/utf8.h"
#include "tests/unit/frame/unit.h"

START_TEST(texts)
{
    static const struct {
        const char *text;
        bool valid;
    } table[] = {
        {"", true},
        {"plain text of more than eight bytes", true},
        {"h\xc3\xa9llo \xe4\xb8\x96\xe7\x95\x8c \xf0\x9f\x9a\x80", true},
        {"\xc2\x80", true},
        {"\xdf\xbf", true},
        {"\xe0\xa0\x80", true},
        {"\xed\x9f\xbf", true},
        {"\xee\x80\x80", true},
        {"\xef\xbf\xbf", true},
        {"\xf0\x90\x80\x80", true},
        {"\xf4\x8f\xbf\xbf", true},
        {"\x80", false},
        {"12345678\xff", false},
        {"1234567\x80", false},
        {"\xc0\x80", false}, /* overlong */
        {"\xc1\xbf", false},
        {"\xe0\x9f\xbf", false},
        {"\xf0\x8f\xbf\xbf", false},
        {"\xed\xa0\x80", false},     /* a surrogate */
        {"\xf4\x90\x80\x80", false}, /* above U+10FFFF */
        {"\xf5\x80\x80\x80", false},
        {"\xc3", false}, /* cut */
        {"\xe4\xb8", false},
        {"\xf0\x9f\x9a", false},
        {"\xc3\xc3", false},
        {"\xe4\xb8\x41", false},
        {"\xf0\x9f\x9a\x41", false},
        {"\xe4\x41\x96", false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(utf8_valid(slice_str(table[i].text)) == table[i].valid, "row %zu", i);
    }
    ck_assert(utf8_valid(slice_of("a\0b", 3)));
}
END_TEST

/* A bad byte is found at every place of a long text. */
START_TEST(places)
{
    char text[64];
    for (size_t i = 0; i < sizeof text; i++) {
        memset(text, 'x', sizeof text);
        ck_assert(utf8_valid(slice_of(text, i)));
        text[i] = (char)0xC3;
        ck_assert(!utf8_valid(slice_of(text, sizeof text)));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("utf8");
    TCase *tcase = tcase_create("utf8");
    tcase_add_test(tcase, texts);
    tcase_add_test(tcase, places);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
