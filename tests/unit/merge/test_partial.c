// SPDX-License-Identifier: Apache-2.0
/*
 * Totals of nodes' partials: the worked examples, and what has to hold for odd frames. Each case
 * is fed in both orders of arrival, which must not show.
 */
#include "merge/plan.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/merge/frames.h"

static const struct plan_tag by_svc[] = {
    {{(const uint8_t *)"default", 7}, {(const uint8_t *)"svc", 3}}};

struct example {
    const char *name;
    enum plan_function function;
    enum plan_type type;
    size_t keys; /* 0 or 1: svc */
    bool mean_as_it_is;
    const char *frames[3]; /* of nodes 0, 1, 2 */
    const char *answer;
};

#define SVC "tag:default.svc:str"

static const struct example examples[] = {
    {"A1, but equal shards are not copies",
     PLAN_SUM,
     PLAN_INT,
     1,
     false,
     {"shard " SVC " field:v:int | 0 a 10 | 0 b 4", "shard " SVC " field:v:int | 1 a 7 | 0 b 4"},
     "a 17; b 8"},
    {"A2",
     PLAN_MEAN,
     PLAN_INT,
     1,
     false,
     {"shard " SVC " field:v:int field:v__agg_count:int | 0 a 7 2 | 0 b 1 3 | 0 c -10 2 | 0 d 0 0",
      "shard " SVC " field:v:int field:v__agg_count:int | 1 a 4 3"},
     "a 2; b 1; c 1; d 0"},
    {"A2 as it is",
     PLAN_MEAN,
     PLAN_INT,
     1,
     true,
     {"shard " SVC " field:v:int field:v__agg_count:int | 0 a 7 2 | 0 b 1 3 | 0 c -11 2 | 0 d 0 0",
      "shard " SVC " field:v:int field:v__agg_count:int | 1 a 4 3"},
     "a 2; b 0; c -5; d 0"},
    {"A3",
     PLAN_MEAN,
     PLAN_FLOAT,
     1,
     false,
     {"shard " SVC " field:v:float field:v__agg_count:float | 0 a 1 4 | 0 b nan 1 | 0 c 5 2"},
     "a 1.0; b nan; c 2.5"},
    {"A4: all nodes count",
     PLAN_SUM,
     PLAN_INT,
     0,
     false,
     {"shard field:v:int | 0 10", "shard field:v:int | 0 5", "shard field:v:int | 0 -1"},
     "14"},
    {"A5",
     PLAN_COUNT,
     PLAN_FLOAT,
     0,
     false,
     {"shard field:v:float | 0 2", "shard field:v:float | 0 3"},
     "5.0"},
    {"A6",
     PLAN_SUM,
     PLAN_INT,
     1,
     false,
     {"shard " SVC " tag:default.host:str field:v:int | 0 a h1 1",
      "shard " SVC " tag:default.host:str field:v:int | 1 a h2 2"},
     "a h1 3"},
    {"A7: floats are not cut",
     PLAN_SUM,
     PLAN_FLOAT,
     0,
     false,
     {"shard time version series field:v:fv | 0 - 0 0 1.5",
      "shard time version series field:v:fv | 0 - 0 0 2.25"},
     "3.75"},
};

static void check(const struct example *example)
{
    struct plan plan = {
        .group_count = 1,
        .limit = 100,
        .mode = PLAN_PARTIALS,
        .key_count = example->keys,
        .keys = by_svc,
        .agg = {.function = example->function,
                .type = example->type,
                .field = slice_str("v"),
                .mean_floor = !example->mean_as_it_is},
    };
    struct frames_feed feeds[3];
    size_t count = 0;
    while (count < 3 && example->frames[count] != NULL) {
        feeds[count] = (struct frames_feed){.rank = count, .text = example->frames[count]};
        count++;
    }
    for (int turned = 0; turned < 2; turned++) {
        char *answer = frames_answer(&plan, feeds, count, 1 + (size_t)turned * 1000);
        ck_assert_msg(strcmp(answer, example->answer) == 0, "%s: %s instead of %s", example->name,
                      answer, example->answer);
        free(answer);
        struct frames_feed first = feeds[0];
        feeds[0] = feeds[count - 1];
        feeds[count - 1] = first;
    }
}

START_TEST(partials_add_up_to_the_answer)
{
    check(&examples[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge partial");
    TCase *tests = tcase_create("partial");
    tcase_add_loop_test(tests, partials_add_up_to_the_answer, 0,
                        sizeof examples / sizeof *examples);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
