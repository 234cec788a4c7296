// SPDX-License-Identifier: Apache-2.0
/* What comes out of nodes' lists, as tables of text; and what is refused. */
#include "tests/unit/frame/unit.h"
#include "tests/unit/merge/lists.h"

#include <stdio.h>

#define MAX_ANSWERS 8

struct example {
    const char *name;
    enum plan_function function;
    enum plan_type type;
    bool ascending;
    bool every;
    bool floor;
    uint64_t number;
    const char *answers[MAX_ANSWERS]; /* "1:" before one: of group 1 */
    const char *expected;
};

/* N1 to N4 are small enough to be worked out by hand. */
// clang-format off
static const struct example examples[] = {
    {"N1",
     PLAN_SUM, PLAN_INT, false, false, true, 2, {"svc_1=10@60000/1 svc_2=5@60000/1", "svc_1=12@60000/2 svc_3=7@60000/1"},
     "svc_1=12 svc_3=7"},
    {"N2, newest version",
     PLAN_MAX, PLAN_INT, false, false, true, 5, {"x=3@1/5", "x=9@1/4"},
     "x=3"},
    {"N2, the other way",
     PLAN_MAX, PLAN_INT, false, false, true, 5, {"x=9@1/4", "x=3@1/5"},
     "x=3"},
    {"N3, every time",
     PLAN_SUM, PLAN_INT, false, true, true, 1, {"x=10@1/1 y=8@2/1 y=8@3/1"},
     "y=16"},
    {"N3, the best one",
     PLAN_SUM, PLAN_INT, false, false, true, 1, {"x=10@1/1 y=8@2/1 y=8@3/1"},
     "x=10"},
    {"N4",
     PLAN_MEAN, PLAN_INT, false, true, true, 1, {"x=1@1/1 x=0@2/1"},
     "x=1"},
    {"N4 without a floor",
     PLAN_MEAN, PLAN_INT, false, true, false, 1, {"x=1@1/1 x=0@2/1"},
     "x=0"},
    {"nothing",
     PLAN_SUM, PLAN_INT, false, false, true, 3, {"", ""},
     ""},
    {"no answers",
     PLAN_SUM, PLAN_INT, false, false, true, 3, {NULL},
     ""},
    {"several lists",
     PLAN_SUM, PLAN_INT, false, false, true, 3, {"a=1 | b=2 | c=3"},
     "c=3 b=2 a=1"},
    {"ascending",
     PLAN_MIN, PLAN_INT, true, false, true, 2, {"a=3@1 b=1@1", "a=-2@2 c=9"},
     "a=-2 b=1"},
    {"one value a node, COUNT is 1",
     PLAN_COUNT, PLAN_INT, false, false, true, 3, {"a=3@1 b=9@1", "a=5@2", "a=4@3"},
     "b=1 a=1"},
    {"COUNT over times",
     PLAN_COUNT, PLAN_INT, false, true, true, 3, {"a=3@1 b=9@1", "a=5@2 a=3@1", "a=4@3"},
     "a=3 b=1"},
    {"COUNT of floats is a float",
     PLAN_COUNT, PLAN_FLOAT, false, true, true, 3, {"a=3.5@1 a=1.0@2"},
     "a=2"},
    {"MEAN over times",
     PLAN_MEAN, PLAN_INT, false, true, true, 3, {"a=3@1 a=4@2 b=-9@1"},
     "a=3 b=1"},
    {"MIN, descending",
     PLAN_MIN, PLAN_INT, false, true, true, 3, {"a=3@1 a=7@2 b=4@1"},
     "b=4 a=3"},
    {"MAX over times",
     PLAN_MAX, PLAN_INT, false, true, true, 3, {"a=3@1 a=7@2 b=4@1"},
     "a=7 b=4"},
    {"a sum wraps",
     PLAN_SUM, PLAN_INT, false, true, true, 3, {"a=9223372036854775807@1 a=1@2"},
     "a=-9223372036854775808"},
    {"ties by the best value, then by the entity",
     PLAN_SUM, PLAN_INT, false, true, true, 9, {"b=2@1 b=2@2 a=1@1 a=3@2 d=4@1 c=4@1"},
     "c=4 d=4 a=4 b=4"},
    {"ties, ascending",
     PLAN_SUM, PLAN_INT, true, true, true, 9, {"b=2@1 b=2@2 a=1@1 a=3@2 d=4@1 c=4@1"},
     "a=4 b=4 c=4 d=4"},
    {"entities in the order of their tags",
     PLAN_SUM, PLAN_INT, false, false, true, 9, {"svc_10=1 svc_2=1 svc_1,b=1 svc_1,a=1 ~10=1 ~9=1 ~-1=1 -=1"},
     "-=1 ~-1=1 ~9=1 ~10=1 svc_1,a=1 svc_1,b=1 svc_10=1 svc_2=1"},
    {"null, empty and 0 are three entities",
     PLAN_SUM, PLAN_INT, false, true, true, 9, {"-=3 =2 ~0=1", "-=3 =2 ~0=1"},
     "-=3 =2 ~0=1"},
    {"groups are apart",
     PLAN_SUM, PLAN_INT, false, true, true, 9, {"a=3@1", "1:a=3@1 a=1@2", "a=1@2"},
     "a=4 a:1=4"},
    {"a better value of another group",
     PLAN_MAX, PLAN_INT, false, false, true, 1, {"a=3@1", "1:a=4@1"},
     "a:1=4"},
    {"equal versions: the better value",
     PLAN_MAX, PLAN_INT, false, false, true, 9, {"a=3@1/1 b=9@1/1", "a=5@1/1 b=7@1/1"},
     "b=9 a=5"},
    {"equal versions, ascending",
     PLAN_MAX, PLAN_INT, true, false, true, 9, {"a=3@1/1 b=9@1/1", "a=5@1/1 b=7@1/1"},
     "a=3 b=7"},
    {"no value is 0",
     PLAN_SUM, PLAN_INT, false, true, true, 9, {"a=-@1 b=-1@1"},
     "a=0 b=-1"},
    {"floats for an int field",
     PLAN_SUM, PLAN_INT, false, true, true, 9, {"a=2.9@1 a=3@2"},
     "a=5"},
    {"ints for a float field",
     PLAN_SUM, PLAN_FLOAT, false, true, true, 9, {"a=2.5@1 a=3@2"},
     "a=5.5"},
    {"a sum of floats does not depend on order",
     PLAN_SUM, PLAN_FLOAT, false, true, true, 9, {"a=10000000000000000.0@1 a=1.0@2 a=-10000000000000000.0@3"},
     "a=1"},
    {"NaN is last, descending",
     PLAN_MAX, PLAN_FLOAT, false, false, true, 9, {"a=nan b=-1.5 c=2.5"},
     "c=2.5 b=-1.5 a=nan"},
    {"NaN is last, ascending",
     PLAN_MAX, PLAN_FLOAT, true, false, true, 9, {"a=nan b=-1.5 c=2.5"},
     "b=-1.5 c=2.5 a=nan"},
    {"NaN is no best value",
     PLAN_MAX, PLAN_FLOAT, false, false, true, 9, {"a=nan@1", "a=-7.5@2"},
     "a=-7.5"},
    {"more asked than there are",
     PLAN_SUM, PLAN_INT, false, false, true, UINT64_MAX, {"a=1"},
     "a=1"},
};
// clang-format on

static struct topn_plan plan_of(const struct example *example)
{
    return (struct topn_plan){
        .agg = {.function = example->function, .type = example->type, .mean_floor = example->floor},
        .ascending = example->ascending,
        .every = example->every,
        .number = example->number,
    };
}

/* All answers of a group into one batch, from the one at `first` on. */
static void run_example(const struct example *example, size_t first, char said[LISTS_SIZE])
{
    struct arena arena;
    struct topn_plan plan = plan_of(example);
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct topn *topn = topn_open(&plan, &arena);
    size_t count = 0;
    while (count < MAX_ANSWERS && example->answers[count] != NULL) {
        count++;
    }
    for (size_t group = 0; group < 2; group++) {
        struct topn_batch *batch = topn_batch_new(topn);
        topn_batch_begin(batch, group);
        for (size_t i = 0; i < count; i++) {
            const char *text = example->answers[(first + i) % count];
            size_t of = strncmp(text, "1:", 2) == 0;
            if (of == group) {
                lists_feed(batch, text + 2 * of);
            }
        }
        topn_batch_fold(batch);
    }
    lists_read(topn, said);
    arena_fini(&arena);
}

START_TEST(answers_as_in_the_table)
{
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char said[LISTS_SIZE];
        for (size_t first = 0; first < MAX_ANSWERS; first++) {
            run_example(&examples[i], first, said);
            ck_assert_msg(strcmp(said, examples[i].expected) == 0,
                          "%s, from answer %zu on: \"%s\" instead of \"%s\"", examples[i].name,
                          first, said, examples[i].expected);
        }
    }
}
END_TEST

/* A batch is one interval; used again it knows nothing of the one before. */
START_TEST(a_batch_is_used_again)
{
    const struct topn_plan plan = {.agg.function = PLAN_SUM, .every = true, .number = 9};
    struct arena arena;
    char said[LISTS_SIZE];
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct topn *topn = topn_open(&plan, &arena);
    struct topn_batch *batches[2] = {topn_batch_new(topn), topn_batch_new(topn)};
    for (size_t i = 0; i < 100; i++) {
        char text[100];
        struct topn_batch *batch = batches[i % 2];
        topn_batch_begin(batch, i % 4 == 3);
        snprintf(text, sizeof text, "a=1@%zu/7 b=2@%zu/7", i, i);
        lists_feed(batch, text);
        lists_feed(batch, text); /* a copy on another node */
        topn_batch_fold(batch);
    }
    lists_read(topn, said);
    ck_assert_str_eq(said, "b=150 a=75 b:1=50 a:1=25");
    arena_fini(&arena);
}
END_TEST

/* Faults */

static bool try_bytes(const uint8_t *bytes, size_t len, size_t budget, struct error *err)
{
    const struct topn_plan plan = {.agg.function = PLAN_SUM, .number = 9};
    struct arena arena;
    size_t items = 0;
    arena_init(&arena, budget, NULL, NULL);
    struct topn *topn = topn_open(&plan, &arena);
    struct topn_batch *batch = topn_batch_new(topn);
    topn_batch_begin(batch, 0);
    bool taken = topn_batch_feed(batch, slice_of(bytes, len), &items, err);
    arena_fini(&arena);
    return taken;
}

START_TEST(a_truncated_answer_is_refused)
{
    struct lists_body body;
    struct error err;
    lists_write("a,b=1@5/2 ~3=2.5@1/1 -=7", &body);
    ck_assert(try_bytes(body.bytes, body.len, SIZE_MAX, &err));
    for (size_t len = 1; len < body.len; len++) {
        err = (struct error){.code = ERROR_NONE};
        ck_assert_msg(!try_bytes(body.bytes, len, SIZE_MAX, &err), "%zu bytes of %zu", len,
                      body.len);
        ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
    }
}
END_TEST

START_TEST(malformed_items_are_refused)
{
    static const char *const bodies[] = {
        "\x08\x01",                                 /* lists: a number */
        "\x0a\x02\x10\x01",                         /* items: a number */
        "\x0a\x04\x12\x02\x08\x01",                 /* entity: a number */
        "\x0a\x06\x12\x04\x0a\x02\x08\x01",         /* key: a number */
        "\x0a\x06\x12\x04\x0a\x02\x10\x01",         /* tag value: a number */
        "\x0a\x08\x12\x06\x0a\x04\x12\x02\x10\x01", /* str: a number */
        "\x0a\x04\x12\x02\x10\x01",                 /* value: a number */
        "\x0a\x06\x12\x04\x12\x02\x18\x01",         /* int: a number */
        "\x0a\x04\x12\x02\x1a\x00",                 /* version: bytes */
        "\x0a\x04\x12\x02\x20\x01",                 /* timestamp: a number */
        "\x0a\x06\x12\x04\x22\x02\x0a\x00",         /* seconds: bytes */
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct error err = {.code = ERROR_NONE};
        size_t len = (size_t)bodies[i][1] + 2;
        len = bodies[i][0] == 0x08 ? 2 : len;
        ck_assert_msg(!try_bytes((const uint8_t *)bodies[i], len, SIZE_MAX, &err), "body %zu", i);
        ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
    }
}
END_TEST

START_TEST(unknown_fields_are_skipped)
{
    /* a list with a timestamp, unknown fields at each level, and an item without anything */
    static const char body[] =
        "\x18\x01\x0a\x0c\x0a\x02\x08\x01\x7a\x01x\x12\x03\x7a\x01x\x12\x01z";
    struct error err = {.code = ERROR_NONE};
    ck_assert_msg(try_bytes((const uint8_t *)body, sizeof body - 1, SIZE_MAX, &err), "%s",
                  err.text);
}
END_TEST

START_TEST(the_budget_is_kept)
{
    struct lists_body body;
    struct error err;
    lists_write("a=1", &body);
    ck_assert(!try_bytes(body.bytes, body.len, 1, &err));
    ck_assert_int_eq(err.code, ERROR_RESOURCE_EXHAUSTED);
    ck_assert_ptr_nonnull(strstr(err.text, "memory budget of 1 bytes"));
}
END_TEST

/* Memory follows the entities, neither the times nor the number asked. */
START_TEST(intervals_do_not_add_up)
{
    const struct topn_plan plan = {.agg.function = PLAN_SUM, .every = true, .number = UINT64_MAX};
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct topn *topn = topn_open(&plan, &arena);
    struct topn_batch *batch = topn_batch_new(topn);
    size_t after_first = 0;
    for (size_t time = 0; time < 2000; time++) {
        topn_batch_begin(batch, 0);
        for (size_t i = 0; i < 10; i++) {
            char text[100];
            snprintf(text, sizeof text, "entity_%zu=1@%zu/1", i, time);
            lists_feed(batch, text);
        }
        topn_batch_fold(batch);
        after_first = time == 0 ? arena.capacity : after_first;
    }
    ck_assert_uint_eq(arena.capacity, after_first);
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge topn");
    TCase *tests = tcase_create("topn");
    tcase_add_test(tests, answers_as_in_the_table);
    tcase_add_test(tests, a_batch_is_used_again);
    tcase_add_test(tests, a_truncated_answer_is_refused);
    tcase_add_test(tests, malformed_items_are_refused);
    tcase_add_test(tests, unknown_fields_are_skipped);
    tcase_add_test(tests, the_budget_is_kept);
    tcase_add_test(tests, intervals_do_not_add_up);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
