// SPDX-License-Identifier: Apache-2.0
/*
 * Rows folded into groups: each record once in its newest version, groups in the order of their
 * first rows. Each case is fed forwards and backwards, in small steps and in one.
 */
#include "tests/unit/frame/unit.h"
#include "tests/unit/merge/frames.h"

#include <stdio.h>

#define HEAD  "time version series "
#define SVC   "tag:d.svc:str "
#define HOST  "tag:d.host:str "
#define V     "field:v:int"
#define FIRST 4

static const struct plan_tag svc = {{(const uint8_t *)"d", 1}, {(const uint8_t *)"svc", 3}};

struct example {
    const char *name;
    enum plan_function function;
    enum plan_type type;
    bool descending;
    const char *order; /* a tag, or NULL: time */
    bool order_hidden;
    bool index_mode;
    bool one_group; /* no group_by */
    int64_t top;
    uint64_t offset;
    uint64_t limit;            /* 0: all */
    const char *frames[FIRST]; /* of nodes 0, 1, … */
    const char *answer;
};

static const struct example examples[] = {
    {.name = "a record counts once, in its newest version",
     .frames = {HEAD SVC V " | 1 1 7 a 10 | 2 1 7 a 20", HEAD SVC V " | 1 3 7 a 11 | 1 1 9 a 5"},
     .answer = "a 36"},
    {.name = "of equal versions the first node's counts",
     .frames = {HEAD SVC V " | 1 1 7 a 10", HEAD SVC V " | 1 1 7 b 11"},
     .answer = "a 10"},
    {.name = "an older version makes no group",
     .frames = {HEAD SVC V " | 1 1 7 old 10", HEAD SVC V " | 1 2 7 new 11"},
     .answer = "new 11"},
    {.name = "versions meet whatever their sort keys",
     .order = "host",
     .frames = {HEAD SVC HOST V " | 1 1 7 a h1 10", HEAD SVC HOST V " | 1 2 7 a h9 1"},
     .answer = "a h9 1"},
    {.name = "groups by time of their first rows",
     .frames = {HEAD SVC V " | 5 1 1 c 1 | 6 1 1 a 2", HEAD SVC V " | 1 1 2 b 3 | 9 1 2 c 4"},
     .answer = "b 3; c 5; a 2"},
    {.name = "the latest first",
     .descending = true,
     .frames = {HEAD SVC V " | 5 1 1 c 1 | 6 1 1 a 2", HEAD SVC V " | 1 1 2 b 3 | 9 1 2 c 4"},
     .answer = "c 5; a 2; b 3"},
    {.name = "at one time by series, unsigned",
     .frames = {HEAD SVC V " | 5 1 -1 c 1 | 5 1 9 a 2", HEAD SVC V " | 5 1 8 b 3"},
     .answer = "b 3; a 2; c 1"},
    {.name = "the lowest rank carries",
     .frames = {HEAD SVC HOST V " | 5 1 1 a late 1", HEAD SVC HOST V " | 2 1 2 a early 1"},
     .answer = "a early 2"},
    {.name = "the highest time carries when descending",
     .descending = true,
     .frames = {HEAD SVC HOST V " | 5 1 1 a late 1", HEAD SVC HOST V " | 2 1 2 a early 1"},
     .answer = "a late 2"},
    {.name = "order by a tag, nulls first",
     .order = "host",
     .frames = {HEAD SVC HOST V " | 1 1 1 a z 1 | 2 1 1 b y 2 | 3 1 1 c - 4",
                HEAD SVC HOST V " | 4 1 2 a x 8 | 5 1 2 d \"\" 16"},
     .answer = "c null 4; d  16; a x 9; b y 2"},
    {.name = "and last when descending",
     .order = "host",
     .descending = true,
     .frames = {HEAD SVC HOST V " | 1 1 1 a z 1 | 2 1 1 b y 2 | 3 1 1 c - 4",
                HEAD SVC HOST V " | 4 1 2 a x 8 | 5 1 2 d \"\" 16"},
     .answer = "a z 9; b y 2; d  16; c null 4"},
    {.name = "ties of the tag by time, ascending in both directions",
     .order = "host",
     .descending = true,
     .frames = {HEAD SVC HOST V " | 9 1 1 a z 1 | 8 1 1 b z 2", HEAD SVC HOST V " | 7 1 2 c z 4"},
     .answer = "c z 4; b z 2; a z 1"},
    {.name = "long keys outlive their frames",
     .order = "host",
     .frames = {HEAD SVC HOST V " | 1 1 1 a a-long-sort-key-2 1 | 2 1 1 b a-long-sort-key-1 1",
                HEAD SVC HOST V " | 1 1 2 b a-long-sort-key-3 1 | 2 1 2 a a-long-sort-key-0 1"},
     .answer = "a a-long-sort-key-0 2; b a-long-sort-key-1 2"},
    {.name = "keys of arrays are spelled out",
     .order = "host",
     .frames = {HEAD SVC "tag:d.host:tv " V " | 1 1 1 a [zz,z] 1 | 2 1 1 b [y] 2",
                HEAD SVC "tag:d.host:tv " V " | 3 1 2 a [y,a,long,one] 4 | 4 1 2 c [z] 8"},
     .answer = "b [3 bytes] 2; a [17 bytes] 5; c [3 bytes] 8"},
    {.name = "a hidden order tag orders and is gone",
     .order = "host",
     .order_hidden = true,
     .frames = {HEAD SVC HOST V " | 1 1 1 a z 1 | 2 1 1 b y 2", HEAD SVC HOST V " | 4 1 2 a x 8"},
     .answer = "a 9; b 2"},
    {.name = "null is a key; types do not matter",
     .frames = {HEAD SVC V " | 1 1 1 - 1 | 2 1 1 \"\" 2 | 3 1 1 a 4",
                HEAD "tag:d.svc:tv field:v:fv | 1 1 2 null 8 | 2 1 2 0 16 | 3 1 2 a 32",
                HEAD "tag:d.svc:int field:v:fv | 7 1 3 0 64 | 8 1 3 - null"},
     .answer = "null 9;  2; 0 80; a 36"},
    {.name = "no group_by: one group",
     .one_group = true,
     .frames = {HEAD V " | 1 1 1 1 | 2 1 1 -", HEAD V " | 2 1 2 8"},
     .answer = "9"},
    {.name = "no group_by: tags are carried from the first row",
     .one_group = true,
     .frames = {HEAD SVC V " | 2 1 1 b 1", HEAD SVC V " | 1 1 2 a 8"},
     .answer = "a 9"},
    {.name = "no rows, no groups", .one_group = true, .frames = {HEAD V, HEAD V}, .answer = ""},
    {.name = "only nulls: SUM",
     .frames = {HEAD SVC V " | 1 1 1 a -", HEAD SVC V " | 1 1 2 a -"},
     .answer = "a 0"},
    {.name = "only nulls: COUNT",
     .function = PLAN_COUNT,
     .frames = {HEAD SVC V " | 1 1 1 a - | 2 1 1 b 1"},
     .answer = "a 0; b 1"},
    {.name = "only nulls: MIN",
     .function = PLAN_MIN,
     .frames = {HEAD SVC "field:v:fv"
                         " | 1 1 1 a null | 2 1 1 b 1",
                HEAD SVC V " | 1 1 2 a -"},
     .answer = "a null; b 1"},
    {.name = "a real start value is data here",
     .function = PLAN_MIN,
     .frames = {HEAD SVC V " | 1 1 1 a 9223372036854775807"},
     .answer = "a 9223372036854775807"},
    {.name = "COUNT of floats is a float",
     .function = PLAN_COUNT,
     .type = PLAN_FLOAT,
     .frames = {HEAD SVC "field:v:float | 1 1 1 a 0.5 | 2 1 1 a nan"},
     .answer = "a 2.0"},
    {.name = "MEAN",
     .function = PLAN_MEAN,
     .frames = {HEAD SVC V " | 1 1 1 a 5 | 2 1 1 a 6 | 3 1 1 b -3"},
     .answer = "a 5; b 1"},
    {.name = "index mode: a series' newest row counts",
     .index_mode = true,
     .frames = {HEAD SVC V " | 10 1 1 a 1", HEAD SVC V " | 20 1 1 b 2 | 5 1 2 b 4"},
     .answer = "b 6"},
    {.name = "top over groups, ties by rank",
     .top = 3,
     .frames = {HEAD SVC V " | 1 1 1 a 4 | 2 1 1 b - | 3 1 1 c 9 | 4 1 1 d 4 | 5 1 1 e 7"},
     .answer = "c 9; e 7; a 4"},
    {.name = "cut after groups",
     .offset = 1,
     .limit = 2,
     .frames = {HEAD SVC V " | 1 1 1 a 4 | 2 1 1 b 5 | 3 1 1 c 9 | 4 1 1 a 4 | 5 1 1 e 7"},
     .answer = "b 5; c 9"},
    {.name = "a key twice in the projection",
     .frames = {HEAD SVC SVC V " | 1 1 1 a a 4 | 2 1 1 b b 5"},
     .answer = "a a 4; b b 5"},
    {.name = "other fields are gone",
     .frames = {HEAD SVC "field:w:int " V " field:x:str | 1 1 1 a 100 4 x"},
     .answer = "a 4"},
    {.name = "no key column",
     .frames = {HEAD HOST V " | 1 1 1 a 4"},
     .answer = "!reduce raw frames: key tag \"svc\" not present in partial schema"},
    {.name = "no value column",
     .frames = {HEAD SVC "field:w:int | 1 1 1 a 4"},
     .answer = "!reduce raw frames: agg output column \"v\" not present in partial schema"},
    {.name = "no order column",
     .order = "host",
     .frames = {HEAD SVC V " | 1 1 1 a 4"},
     .answer = "!row merge: OrderBy tag d.host not found in merged-batch schema"},
};

static struct plan plan_of(const struct example *example)
{
    struct plan plan = {
        .group_count = 1,
        .descending = example->descending,
        .order_hidden = example->order_hidden,
        .index_mode = example->index_mode,
        .keys = &svc,
        .key_count = example->one_group ? 0 : 1,
        .mode = PLAN_FOLD,
        .agg = {.function = example->function,
                .type = example->type,
                .field = slice_str("v"),
                .mean_floor = true},
        .top = {.number = example->top, .field = slice_str("v")},
        .offset = example->offset,
        .limit = example->limit == 0 ? 100 : example->limit,
    };
    if (example->order != NULL) {
        plan.order = PLAN_BY_TAG;
        plan.order_tag = (struct plan_tag){slice_str("d"), slice_str(example->order)};
    }
    return plan;
}

START_TEST(rows_fold_into_groups)
{
    const struct example *example = &examples[_i];
    const struct plan plan = plan_of(example);
    struct frames_feed forwards[FIRST];
    struct frames_feed backwards[FIRST];
    size_t count = 0;
    while (count < FIRST && example->frames[count] != NULL) {
        forwards[count] = (struct frames_feed){.rank = count, .text = example->frames[count]};
        count++;
    }
    for (size_t i = 0; i < count; i++) {
        backwards[i] = forwards[count - 1 - i];
    }
    for (size_t step = 1; step <= 1000; step *= 1000) {
        char *answer = frames_answer(&plan, forwards, count, step);
        ck_assert_msg(strcmp(answer, example->answer) == 0, "%s: \"%s\"", example->name, answer);
        free(answer);
        answer = frames_answer(&plan, backwards, count, step);
        ck_assert_msg(strcmp(answer, example->answer) == 0, "%s, backwards: \"%s\"", example->name,
                      answer);
        free(answer);
    }
}
END_TEST

/* Two groups of the request: their rows are never copies of each other, and what one of them lacks
 * is null. At the same sort key the group that was named first is first. */
START_TEST(several_groups_of_the_request)
{
    struct layout_column columns[] = {
        {.family = slice_str("d"), .name = slice_str("svc")},
        {.family = slice_str("d"), .name = slice_str("env")},
        {.name = slice_str("v")},
    };
    const struct layout layout = {.tag_count = 2, .field_count = 1, .columns = columns};
    const struct plan plan = {
        .group_count = 2,
        .keys = &svc,
        .key_count = 1,
        .mode = PLAN_FOLD,
        .agg = {.field = slice_str("v")},
        .limit = 100,
        .layout = &layout,
    };
    const struct frames_feed feeds[] = {
        {1, 0, HEAD SVC V " | 1 5 7 a 100 | 1 1 8 b 1"},
        {0, 0, HEAD "tag:d.env:str " SVC V " | 1 1 7 e a 10 | 1 1 9 f c 2"},
        {0, 1, HEAD "tag:d.env:tv " SVC "field:v:fv | 1 2 7 g a 20 | 2 2 7 null a 5"},
    };
    for (size_t turn = 0; turn < 3; turn++) {
        const struct frames_feed turned[] = {feeds[turn], feeds[(turn + 1) % 3],
                                             feeds[(turn + 2) % 3]};
        char *answer = frames_answer(&plan, turned, 3, 1000);
        ck_assert_str_eq(answer, "a g 125; c f 2; b null 1");
        free(answer);
    }
}
END_TEST

/* A node that gives its records in each part again, with other tags: groups have the same ranks
 * then, and the table that holds them is never walked in the same order twice. */
START_TEST(groups_of_one_rank_are_ordered_by_their_keys)
{
    static const char text[] = HEAD SVC V " | 1 1 7 %s 1 | 1 1 8 %s 1 | 1 1 9 %s 1 | 2 1 7 %s 1";
    const struct example example = {.name = "again"};
    const struct plan plan = plan_of(&example);
    static const char *const keys[][4] = {
        {"b", "n", "aa", "p"}, {"a", "m", "a", "q"}, {"c", "l", "ab", "o"}, {"d", "k", "b", "r"}};
    struct frames_msg msgs[4];
    for (size_t part = 0; part < 4; part++) {
        char frame[256];
        const char *const *key = keys[part];
        (void)snprintf(frame, sizeof frame, text, key[0], key[1], key[2], key[3]);
        msgs[part] = (struct frames_msg){.msg = frames_make(frame, 4, NULL), .part = part};
    }
    char *answer = frames_merge(&plan, msgs, 4, 1000);
    ck_assert_str_eq(answer, "a 2; b 2; c 1; d 1; k 1; l 1; m 1; n 1; aa 1; ab 1; "
                             "o 1; p 1; q 1; r 1");
    free(answer);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge fold");
    TCase *tests = tcase_create("fold");
    tcase_add_loop_test(tests, rows_fold_into_groups, 0, sizeof examples / sizeof *examples);
    tcase_add_test(tests, several_groups_of_the_request);
    tcase_add_test(tests, groups_of_one_rank_are_ordered_by_their_keys);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
