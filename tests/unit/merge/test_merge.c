// SPDX-License-Identifier: Apache-2.0
/*
 * Whole merges of rows: the worked examples and what has to hold for odd frames. Each case is fed
 * in every order of arrival and run in several steps, which must not show.
 */
#include "merge/plan.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/merge/frames.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define MOST         4
#define META         "time version series "
#define V            META "field:v:int "
#define T            META "tag:f.t:str "

enum { DESC = 1, HIDDEN = 2, INDEX = 4, BY_TAG = 8 };

struct example {
    const char *name;
    int flags;
    uint64_t offset;
    uint64_t limit; /* 0: plenty */
    const char *frames[MOST];
    const char *answer;
};

static const struct example examples[] = {
    {"R1: the newest copy, sources in order",
     0,
     0,
     0,
     {V "| 1000 1 7 10 | 2000 1 7 20", V "| 1000 3 7 11 | 1000 1 9 5"},
     "1000/7/3: 11; 1000/9/1: 5; 2000/7/1: 20"},
    {"R2: the same, descending",
     DESC,
     0,
     0,
     {V "| 1000 1 7 10 | 2000 1 7 20", V "| 1000 3 7 11 | 1000 1 9 5"},
     "2000/7/1: 20; 1000/7/3: 11; 1000/9/1: 5"},
    {"R3: the series is no sort criterion",
     0,
     0,
     0,
     {V "| 1 1 5 50", V "| 1 1 3 30"},
     "1/5/1: 50; 1/3/1: 30"},
    {"R4: copies with different keys do not meet",
     BY_TAG,
     0,
     0,
     {T "| 9 1 1 a", T "| 9 2 1 b"},
     "9/1/1: a; 9/1/2: b"},
    {"R5: index mode, the first row of a series",
     INDEX,
     0,
     0,
     {T "| 10 1 1 old", T "| 20 1 1 new"},
     "10/1/1: old"},
    {"R5, descending", DESC | INDEX, 0, 0, {T "| 10 1 1 old", T "| 20 1 1 new"}, "20/1/1: new"},
    {"index mode counts what is returned",
     INDEX,
     1,
     1,
     {T "| 10 1 1 a | 11 1 2 b | 12 1 3 c", T "| 10 1 1 a | 11 1 1 d | 13 1 2 e"},
     "11/2/1: b"},
    {"nulls first, a window of their own",
     BY_TAG,
     0,
     0,
     {T "| 1 1 10 - | 1 1 11 x", T "| 1 1 20 - | 1 1 21 x"},
     "1/10/1: null; 1/20/1: null; 1/11/1: x; 1/21/1: x"},
    {"nulls last when descending",
     BY_TAG | DESC,
     0,
     0,
     {T "| 1 1 10 - | 1 1 11 x", T "| 1 1 20 - | 1 1 21 x"},
     "1/11/1: x; 1/21/1: x; 1/10/1: null; 1/20/1: null"},
    {"null, then the empty text",
     BY_TAG,
     0,
     0,
     {T "| 1 1 10 \"\" | 1 1 11 -", T "| 1 1 20 \"\" | 1 1 21 -"},
     "1/11/1: null; 1/21/1: null; 1/10/1: ; 1/20/1: "},
    {"copies among nulls meet",
     BY_TAG,
     0,
     0,
     {T "| 1 1 10 - | 2 1 10 -", META "tag:f.t:tv | 1 2 10 null | 2 0 10 void"},
     "2/10/1: null; 1/10/2: null"},
    {"the four nulls are one key",
     BY_TAG,
     0,
     0,
     {T "| 1 1 1 -", META "tag:f.t:tv | 1 1 2 null", META "tag:f.t:tv | 1 1 3 void",
      META "tag:f.t:tv | 1 1 4 -"},
     "1/1/1: null; 1/2/1: null; 1/3/1: null; 1/4/1: null"},
    {"a hidden order tag",
     BY_TAG | HIDDEN,
     0,
     0,
     {META "tag:f.t:str field:v:int | 1 1 1 b 10", META "tag:f.t:str field:v:int | 1 1 2 a 20"},
     "1/2/1: 20; 1/1/1: 10"},
    {"hidden in its family alone",
     BY_TAG | HIDDEN,
     0,
     0,
     {META "tag:g.t:str tag:f.t:str | 1 1 1 kept b", META "tag:g.t:str tag:f.t:str | 1 1 2 too a"},
     "1/2/1: too; 1/1/1: kept"},
    {"types that differ, cell by cell",
     0,
     0,
     0,
     {META "tag:f.t:str field:v:int | 1 1 1 a 10 | 4 1 1 - -",
      META "tag:f.t:tv field:v:fv | 2 1 1 5 1.5 | 5 1 1 [a,b] b",
      META "tag:f.t:bytes field:v:float | 3 1 1 z 2", META "tag:f.t:int field:v:str | 6 1 1 7 x"},
     "1/1/1: a 10; 2/1/1: 5 1.5; 3/1/1: x:z 2.0; 4/1/1: null null; 5/1/1: [6 bytes] b; "
     "6/1/1: 7 x"},
    {"order keys of differing types",
     BY_TAG,
     0,
     0,
     {META "tag:f.t:int | 1 1 1 -3 | 1 1 1 5", META "tag:f.t:tv | 1 1 2 4 | 1 1 2 5",
      T "| 1 1 3 \"\" | 1 1 3 zz"},
     "1/3/1: ; 1/3/1: zz; 1/1/1: -3; 1/2/1: 4; 1/1/1: 5; 1/2/1: 5"},
    {"times before 1970",
     0,
     0,
     0,
     {V "| -5 1 1 1 | 3 1 1 2", V "| -7 1 1 3 | 0 1 1 4"},
     "-7/1/1: 3; -5/1/1: 1; 0/1/1: 4; 3/1/1: 2"},
    {"times before 1970, descending",
     DESC,
     0,
     0,
     {V "| 3 1 1 2 | -5 1 1 1", V "| 0 1 1 4 | -7 1 1 3"},
     "3/1/1: 2; 0/1/1: 4; -5/1/1: 1; -7/1/1: 3"},
    {"a frame out of order",
     0,
     0,
     0,
     {V "| 3 1 1 1 | 1 1 2 2 | 3 1 1 9 | 1 1 1 3", V "| 2 1 1 4"},
     "1/2/1: 2; 1/1/1: 3; 2/1/1: 4; 3/1/1: 1"},
    {"metadata by role, in any place",
     0,
     0,
     0,
     {"time version series shard tag:f.t:str field:v:int | 1 2 3 0 a 10",
      "shard time version series tag:f.t:tv field:v:fv | 0 1 5 3 b 11"},
     "1/3/5: b 11"},
    {"constants",
     0,
     0,
     0,
     {T "| 1 1 7 a | 2 1 7 a", META "tag:f.t:str! | 1 1 8 k | 2 1 8 k"},
     "1/7/1: a; 1/8/1: k; 2/7/1: a; 2/8/1: k"},
    {"all constant: rows that are copies of each other",
     0,
     0,
     0,
     {"time! version! series! field:v:int! | 1 1 1 5 | 1 1 1 5 | 1 1 1 5"},
     "1/1/1: 5"},
    {"series as unsigned numbers", 0, 0, 0, {V "| 1 1 -1 5"}, "1/18446744073709551615/1: 5"},
    {"no frame", 0, 0, 0, {NULL}, ""},
    {"frames without rows", 0, 0, 0, {V, T}, ""},
    {"a frame without rows says nothing about columns", 0, 0, 0, {T, V "| 1 1 1 5"}, "1/1/1: 5"},
    {"offset", 0, 2, 0, {V "| 1 1 1 1 | 2 1 1 2", V "| 1 1 2 3 | 2 1 2 4"}, "2/1/1: 2; 2/2/1: 4"},
    {"limit", 0, 0, 1, {V "| 1 1 1 1 | 2 1 1 2", V "| 1 1 2 3 | 2 1 2 4"}, "1/1/1: 1"},
    {"offset and limit",
     0,
     1,
     2,
     {V "| 1 1 1 1 | 2 1 1 2", V "| 1 1 2 3 | 2 1 2 4"},
     "1/2/1: 3; 2/1/1: 2"},
    {"offset past the end", 0, 9, 5, {V "| 1 1 1 1"}, ""},
    {"offset to the end", 0, 1, 5, {V "| 1 1 1 1"}, ""},
    {"offset and limit that sum past 2^64",
     0,
     1,
     UINT64_MAX,
     {V "| 1 1 1 1 | 2 1 1 2"},
     "2/1/1: 2"},
    {"columns that do not agree",
     0,
     0,
     0,
     {V "| 1 1 1 1", META "field:w:int | 1 1 1 1"},
     "!merge rows: frame 1: column 3 layout mismatch: baseline=\"\".\"v\" role=field vs "
     "frame=\"\".\"w\""},
    {"another number of columns",
     0,
     0,
     0,
     {V "| 1 1 1 1", V, META "field:v:int field:w:int | 1 1 1 1 1"},
     "!merge rows: frame 2: schema of 0 tags and 2 fields != baseline of 0 tags and 1 fields"},
    {"no version",
     0,
     0,
     0,
     {"time series field:v:int | 1 1 1"},
     "!row merge requires series-id, timestamp, and version columns without nulls"},
    {"no order tag",
     BY_TAG,
     0,
     0,
     {V "| 1 1 1 1"},
     "!row merge: OrderBy tag f.t not found in merged-batch schema"},
};

static struct plan plan_of(const struct example *example)
{
    return (struct plan){
        .group_count = 1,
        .order = example->flags & BY_TAG ? PLAN_BY_TAG : PLAN_BY_TIME,
        .descending = (example->flags & DESC) != 0,
        .order_tag = {slice_str("f"), slice_str("t")},
        .order_hidden = (example->flags & HIDDEN) != 0,
        .index_mode = (example->flags & INDEX) != 0,
        .offset = example->offset,
        .limit = example->limit == 0 ? 1000 : example->limit,
    };
}

static void swap(struct frames_feed *a, struct frames_feed *b)
{
    struct frames_feed kept = *a;
    *a = *b;
    *b = kept;
}

/* Heap's algorithm: the next arrangement, false after the last. */
static bool rearrange(struct frames_feed *feeds, size_t count, size_t *turns)
{
    for (size_t i = 1; i < count; i++) {
        if (turns[i] < i) {
            swap(&feeds[i % 2 == 0 ? 0 : turns[i]], &feeds[i]);
            turns[i]++;
            return true;
        }
        turns[i] = 0;
    }
    return false;
}

static void check(const struct plan *plan, struct frames_feed *feeds, size_t count,
                  const struct example *example)
{
    static const size_t steps[] = {1, 2, 3, 1000};
    size_t turns[MOST] = {0};
    do {
        for (size_t i = 0; i < COUNT(steps); i++) {
            char *answer = frames_answer(plan, feeds, count, steps[i]);
            ck_assert_msg(strcmp(answer, example->answer) == 0, "%s: %s instead of %s",
                          example->name, answer, example->answer);
            free(answer);
        }
    } while (rearrange(feeds, count, turns));
}

START_TEST(one_group)
{
    const struct example *example = &examples[_i];
    struct plan plan = plan_of(example);
    struct frames_feed feeds[MOST];
    size_t count = 0;
    for (; count < MOST && example->frames[count] != NULL; count++) {
        feeds[count] = (struct frames_feed){.rank = count, .text = example->frames[count]};
    }
    check(&plan, feeds, count, example);
}
END_TEST

/* --------------------------------------------------------- several groups */

/* The layout of both groups: tags svc and env, field v. Frames 0 and 1 are the first group's. */
static const struct example grouped[] = {
    {"M1: a tag that a group lacks",
     0,
     0,
     0,
     {META "tag:f.svc:str tag:f.env:str field:v:int | 1 1 1 a prod 10", NULL,
      META "tag:f.svc:str field:v:int | 2 1 1 b 20"},
     "1/1/1: a prod 10; 2/1/1: b null 20"},
    {"M2: nothing asked for, all null",
     0,
     0,
     0,
     {META "| 1 1 1", NULL, META "| 1 1 2"},
     "1/1/1: null null null; 1/2/1: null null null"},
    {"equal series and times of two groups are two rows",
     0,
     0,
     0,
     {META "tag:f.svc:str field:v:int | 1 1 1 a 10", META "tag:f.svc:str field:v:int | 1 2 1 a 11",
      META "tag:f.svc:str field:v:int | 1 1 1 a 20", META "tag:f.svc:str field:v:int | 1 3 1 a 21"},
     "1/1/2: a null 11; 1/1/3: a null 21"},
    {"index mode: a series of each group",
     INDEX,
     0,
     0,
     {META "tag:f.svc:str | 1 1 1 a | 2 1 1 b", NULL, META "tag:f.svc:str | 1 1 1 c | 3 1 2 d"},
     "1/1/1: a null null; 1/1/1: c null null; 3/2/1: d null null"},
    {"groups in request order, then nodes",
     0,
     0,
     0,
     {META "field:v:int | 1 1 4 1", META "field:v:int | 1 1 3 2", META "field:v:int | 1 1 2 3",
      META "field:v:int | 1 1 1 4"},
     "1/4/1: null null 1; 1/3/1: null null 2; 1/2/1: null null 3; 1/1/1: null null 4"},
    {"columns by name, in any order and type",
     0,
     0,
     0,
     {META "field:v:fv tag:f.env:tv tag:f.svc:int | 1 1 1 2.5 [a] 7", NULL,
      META "tag:f.other:str tag:f.env:bytes field:svc:int | 2 1 1 x y 3"},
     "1/1/1: 7 [3 bytes] 2.5; 2/1/1: null x:y null"},
};

START_TEST(two_groups)
{
    struct layout_column columns[] = {{slice_str("f"), slice_str("svc"), false},
                                      {slice_str("f"), slice_str("env"), false},
                                      {slice_str(""), slice_str("v"), false}};
    const struct layout layout = {.tag_count = 2, .field_count = 1, .columns = columns};
    const struct example *example = &grouped[_i];
    struct plan plan = plan_of(example);
    struct frames_feed feeds[MOST];
    size_t count = 0;
    plan.group_count = 2;
    plan.layout = &layout;
    for (size_t i = 0; i < MOST; i++) {
        if (example->frames[i] != NULL) {
            feeds[count++] =
                (struct frames_feed){.group = i / 2, .rank = i % 2, .text = example->frames[i]};
        }
    }
    check(&plan, feeds, count, example);
}
END_TEST

/* One group's frames lack the order tag: null keys. The plan says what is hidden. */
START_TEST(two_groups_by_a_hidden_tag)
{
    struct layout_column columns[] = {{slice_str("f"), slice_str("t"), true},
                                      {slice_str(""), slice_str("v"), false}};
    const struct layout layout = {.tag_count = 1, .field_count = 1, .columns = columns};
    struct example example = {
        .name = "by a hidden tag",
        .flags = BY_TAG | HIDDEN,
        .answer = "1/3/1: 3; 9/1/1: 2; 1/2/1: 1",
    };
    struct plan plan = plan_of(&example);
    plan.group_count = 2;
    plan.layout = &layout;
    struct frames_feed feeds[] = {
        {0, 0, META "tag:f.t:str field:v:int | 1 1 2 z 1 | 9 1 1 y 2"},
        {1, 0, META "field:v:int | 1 1 3 3"},
    };
    check(&plan, feeds, 2, &example);
    plan.descending = true;
    example.answer = "1/2/1: 1; 9/1/1: 2; 1/3/1: 3";
    check(&plan, feeds, 2, &example);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge");
    TCase *tcase = tcase_create("rows");
    tcase_add_loop_test(tcase, one_group, 0, COUNT(examples));
    tcase_add_loop_test(tcase, two_groups, 0, COUNT(grouped));
    tcase_add_test(tcase, two_groups_by_a_hidden_tag);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
