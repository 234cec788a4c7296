// SPDX-License-Identifier: Apache-2.0
/* The grammar of label selectors: what matches, and the texts of what is none. */
#include "liaison/cluster/selector.h"
#include "tests/unit/frame/unit.h"

/* type=hot, zone=z1, empty="" */
static const struct member node = {
    .name = (char[]){"d1"},
    .address = (char[]){"d1:17912"},
    .label_count = 3,
    .labels = (struct label[]){{(char[]){"type"}, (char[]){"hot"}},
                               {(char[]){"zone"}, (char[]){"z1"}},
                               {(char[]){"empty"}, (char[]){""}}},
    .reached = true,
};

static const struct {
    const char *text;
    bool matches;
} good[] = {
    {"", true},
    {" , ,", true},
    {"type", true},
    {"other", false},
    {"!other", true},
    {"! other ", true},
    {"!type", false},
    {"type=hot", true},
    {" type = hot ", true},
    {"type=warm", false},
    {"type!=warm", true},
    {"type!=hot", false},
    {"other!=x", true},
    {"other=x", false},
    {"empty=", true},
    {"type=", false},
    {"type in (hot,warm)", true},
    {"type in ( warm , hot )", true},
    {"type in (warm)", false},
    {"other in (a)", false},
    {"type notin (warm,cold)", true},
    {"type notin (hot)", false},
    {"other notin (a)", true},
    {"type in (,hot,)", true},
    {"type=hot,zone=z1", true},
    {"type=hot,zone=z2", false},
    {"type in (hot,warm),zone notin (z2,z3),!drain", true},
    {"type==hot", false}, /* asks for the value "=hot" */
    {"type=hot=hot", false},
    {"k8s.io-zone_1=x", false},
};

static const struct {
    const char *text;
    const char *why;
} bad[] = {
    {"=hot", "invalid selector \"=hot\": empty key"},
    {"!", "invalid selector \"!\": empty key"},
    {"Type=hot", "invalid selector \"Type=hot\": invalid key \"Type\": must match [a-z0-9-_.]"},
    {"a b", "invalid selector \"a b\": invalid key \"a b\": must match [a-z0-9-_.]"},
    {"a in(x)", "invalid selector \"a in(x)\": invalid key \"a in(x)\": must match [a-z0-9-_.]"},
    {"a in (x=y)",
     "invalid selector \"a in (x=y)\": invalid key \"a in (x\": must match [a-z0-9-_.]"},
    {"a in x", "invalid selector \"a in x\": set operations require parenthesized values"},
    {"a notin (x", "invalid selector \"a notin (x\": set operations require parenthesized values"},
    {"a in ()", "invalid selector \"a in ()\": empty value list"},
    {"a in ( , )", "invalid selector \"a in ( , )\": empty value list"},
    {"type=hot,=x", "invalid selector \"type=hot,=x\": empty key"},
};

START_TEST(what_matches)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct error err = {0};
        struct selector *selector = selector_parse(slice_str(good[i].text), &err);
        ck_assert_msg(selector != NULL, "%s: %s", good[i].text, err.text);
        ck_assert_msg(selector_match(selector, &node) == good[i].matches, "%s", good[i].text);
        selector_free(&selector);
    }
}
END_TEST

START_TEST(what_is_no_selector)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error err = {0};
        ck_assert_msg(selector_parse(slice_str(bad[i].text), &err) == NULL, "%s", bad[i].text);
        ck_assert_str_eq(err.text, bad[i].why);
        ck_assert_int_eq(err.code, ERROR_INVALID_ARGUMENT);
    }
}
END_TEST

START_TEST(text_need_not_end_with_a_zero)
{
    struct error err = {0};
    const char *longer = "type=hottest";
    struct selector *selector = selector_parse(slice_of(longer, 8), &err);
    ck_assert_ptr_nonnull(selector);
    ck_assert(selector_match(selector, &node));
    selector_free(&selector);
    ck_assert_ptr_null(selector);
    selector_free(&selector);
}
END_TEST

/* Any bytes: an answer or an error, never a fault. */
START_TEST(random_bytes)
{
    static const char letters[] = "ab=!,() in notin\"\\\n\xff";
    unsigned seed = 1;
    for (int round = 0; round < 20000; round++) {
        char text[24];
        const size_t len = (size_t)rand_r(&seed) % sizeof text;
        for (size_t i = 0; i < len; i++) {
            text[i] = letters[(size_t)rand_r(&seed) % (sizeof letters - 1)];
        }
        struct error err = {0};
        struct selector *selector = selector_parse(slice_of(text, len), &err);
        ck_assert((selector == NULL) == (err.code == ERROR_INVALID_ARGUMENT));
        if (selector != NULL) {
            (void)selector_match(selector, &node);
        }
        selector_free(&selector);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("selector");
    TCase *tcase = tcase_create("selector");
    tcase_add_test(tcase, what_matches);
    tcase_add_test(tcase, what_is_no_selector);
    tcase_add_test(tcase, text_need_not_end_with_a_zero);
    tcase_add_test(tcase, random_bytes);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
