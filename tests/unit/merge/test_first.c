// SPDX-License-Identifier: Apache-2.0
/* group_by without an aggregation, and where the answer is cut. */
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/merge/frames.h"

#include <stdio.h>

static struct plan plan_by(const struct plan_tag *keys, size_t count)
{
    return (struct plan){.group_count = 1, .limit = 100, .keys = keys, .key_count = count};
}

static struct plan_tag tag(const char *name)
{
    return (struct plan_tag){.family = slice_str("d"), .name = slice_str(name)};
}

static void check(const struct plan *plan, const struct frames_feed *feeds, size_t count,
                  const char *expected)
{
    for (size_t step = 1; step <= 100; step *= 10) {
        char *answer = frames_answer(plan, feeds, count, step);
        ck_assert_str_eq(answer, expected);
        free(answer);
    }
}

START_TEST(g1_the_first_row_of_each_key)
{
    const struct plan_tag key = tag("svc");
    const struct plan plan = plan_by(&key, 1);
    const struct frames_feed feeds[] = {
        {0, 1, "time version series tag:d.svc:str field:v:int | 2 1 1 a 7"},
        {0, 0, "time version series tag:d.svc:str field:v:int | 1 1 1 a 1 | 3 1 1 b 9"},
    };
    check(&plan, feeds, 2, "1/1/1: a 1; 3/1/1: b 9");
}
END_TEST

START_TEST(null_is_a_key_and_types_do_not_matter)
{
    const struct plan_tag key = tag("k");
    const struct plan plan = plan_by(&key, 1);
    const struct frames_feed feeds[] = {
        {0, 0, "time version series tag:d.k:str | 1 1 1 a | 2 1 1 - | 3 1 1 \"\""},
        {0, 1, "time version series tag:d.k:tv | 4 1 1 a | 5 1 1 null | 6 1 1 0 | 7 1 1 x:a"},
        {0, 2, "time version series tag:d.k:int | 8 1 1 0 | 9 1 1 -"},
        {0, 3, "time version series tag:d.k:tv | 10 1 1 [a,b] | 11 1 1 [ab] | 12 1 1 [a,b]"},
    };
    check(&plan, feeds, 4,
          "1/1/1: a; 2/1/1: null; 3/1/1: ; 6/1/1: 0; 7/1/1: x:a; 10/1/1: [6 bytes]; "
          "11/1/1: [4 bytes]");
}
END_TEST

START_TEST(several_keys_make_one)
{
    const struct plan_tag keys[] = {tag("a"), tag("b")};
    const struct plan plan = plan_by(keys, 2);
    const struct frames_feed feed = {
        0, 0, "time version series tag:d.b:str tag:d.a:str! | 1 1 1 x y | 2 1 1 yx y | 3 1 1 x y"};
    check(&plan, &feed, 1, "1/1/1: x y; 2/1/1: yx y");
}
END_TEST

START_TEST(groups_come_before_top_and_cut)
{
    const struct plan_tag key = tag("k");
    struct plan plan = plan_by(&key, 1);
    plan.top = (struct plan_top){.number = 3, .field = slice_str("v")};
    plan.offset = 1;
    plan.limit = 1;
    const struct frames_feed feed = {
        0, 0,
        "time version series tag:d.k:str field:v:int | 1 1 1 a 1 | 2 1 1 b 2 | 3 1 1 a 100 | "
        "4 1 1 c 3 | 5 1 1 d 0"};
    check(&plan, &feed, 1, "2/1/1: b 2");
}
END_TEST

START_TEST(a_key_that_is_not_there)
{
    const struct plan_tag key = tag("none");
    struct plan plan = plan_by(&key, 1);
    const struct frames_feed rows = {0, 0, "time version series tag:d.k:str | 1 1 1 a"};
    const struct frames_feed no_rows = {0, 0, "time version series tag:d.k:str"};
    check(&plan, &rows, 1, "!apply group-by to rows: groupby tag none not found in schema");
    check(&plan, &no_rows, 1, "");
    struct layout_column column = {.family = slice_str("d"), .name = slice_str("k")};
    const struct layout layout = {.tag_count = 1, .columns = &column};
    plan.group_count = 2;
    plan.layout = &layout;
    check(&plan, &rows, 1,
          "!apply group-by to multi-group rows: groupby tag none not found in schema");
}
END_TEST

/* The cut: `end` never overflows, and nothing is looked at that is not given. */
START_TEST(offset_and_limit)
{
    static const struct {
        uint64_t offset;
        uint64_t limit;
        const char *answer;
    } cuts[] = {
        {0, 100, "1/1/1: 1; 2/1/1: 2; 3/1/1: 3; 4/1/1: 4; 5/1/1: 5"},
        {2, 2, "3/1/1: 3; 4/1/1: 4"},
        {4, 100, "5/1/1: 5"},
        {5, 100, ""},
        {UINT64_MAX, UINT64_MAX, ""},
        {3, UINT64_MAX, "4/1/1: 4; 5/1/1: 5"},
        {0, 1, "1/1/1: 1"},
    };
    const struct frames_feed feed = {
        0, 0, "time version series field:v:int | 1 1 1 1 | 2 1 1 2 | 3 1 1 3 | 4 1 1 4 | 5 1 1 5"};
    struct plan plan = {.group_count = 1};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        plan.offset = cuts[i].offset;
        plan.limit = cuts[i].limit;
        check(&plan, &feed, 1, cuts[i].answer);
    }
}
END_TEST

#define ROWS 60

START_TEST(first_is_what_a_list_would_give)
{
    const struct plan_tag keys[] = {tag("a"), tag("b")};
    const struct plan plan = plan_by(keys, 2);
    uint64_t state = (uint64_t)_i + 1;
    for (int round = 0; round < 20; round++) {
        char frame[4096] = "time version series tag:d.a:str tag:d.b:int";
        char expected[4096] = "";
        char seen[ROWS][32];
        size_t groups = 0;
        size_t count = random_below(&state, ROWS + 1);
        for (size_t i = 0; i < count; i++) {
            char key[32];
            size_t known = 0;
            snprintf(key, sizeof key, "%c %zu", (char)('a' + random_below(&state, 5)),
                     random_below(&state, 5));
            char *end = frame + strlen(frame);
            snprintf(end, sizeof frame - strlen(frame), " | %zu 1 1 %s", i, key);
            while (known < groups && strcmp(seen[known], key) != 0) {
                known++;
            }
            if (known == groups) {
                strcpy(seen[groups++], key);
                end = expected + strlen(expected);
                snprintf(end, sizeof expected - strlen(expected), "%s%zu/1/1: %s",
                         groups == 1 ? "" : "; ", i, key);
            }
        }
        const struct frames_feed feed = {0, 0, frame};
        check(&plan, &feed, 1, expected);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge first");
    TCase *tests = tcase_create("first");
    tcase_add_test(tests, g1_the_first_row_of_each_key);
    tcase_add_test(tests, null_is_a_key_and_types_do_not_matter);
    tcase_add_test(tests, several_keys_make_one);
    tcase_add_test(tests, groups_come_before_top_and_cut);
    tcase_add_test(tests, a_key_that_is_not_there);
    tcase_add_test(tests, offset_and_limit);
    tcase_add_loop_test(tests, first_is_what_a_list_would_give, 0, 10);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
