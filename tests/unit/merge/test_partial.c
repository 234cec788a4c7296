// SPDX-License-Identifier: Apache-2.0
/*
 * Totals of nodes' partials: the worked examples, and what has to hold for odd frames. Each case
 * is fed forwards and backwards, which must not show.
 */
#include "frame/decode.h"
#include "merge/merge.h"
#include "tests/support/frame_builder.h"
#include "tests/support/frame_random.h"
#include "tests/support/frame_test.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/merge/frames.h"

#include <stdio.h>

static const struct plan_tag by_svc = {{(const uint8_t *)"d", 1}, {(const uint8_t *)"svc", 3}};

struct example {
    const char *name;
    enum plan_function function;
    enum plan_type type;
    bool scalar; /* no group_by */
    bool mean_as_it_is;
    int64_t top;
    const char *top_field; /* NULL: v */
    uint64_t offset;
    uint64_t limit;        /* 0: all */
    const char *frames[4]; /* of nodes 0, 1, … */
    const char *answer;
};

#define SVC   "tag:d.svc:str "
#define HOST  "tag:d.host:str "
#define V     "field:v:int"
#define MEANS "shard " SVC "field:v:int field:v__agg_count:int"

static const struct example examples[] = {
    {.name = "A1, but equal shards are not copies",
     .frames = {"shard " SVC V " | 0 a 10 | 0 b 4", "shard " SVC V " | 1 a 7 | 0 b 4"},
     .answer = "a 17; b 8"},
    {.name = "A2",
     .function = PLAN_MEAN,
     .frames = {MEANS " | 0 a 7 2 | 0 b 1 3 | 0 c -10 2 | 0 d 0 0", MEANS " | 1 a 4 3"},
     .answer = "a 2; b 1; c 1; d 0"},
    {.name = "A2 as it is",
     .function = PLAN_MEAN,
     .mean_as_it_is = true,
     .frames = {MEANS " | 0 a 7 2 | 0 b 1 3 | 0 c -11 2 | 0 d 0 0", MEANS " | 1 a 4 3"},
     .answer = "a 2; b 0; c -5; d 0"},
    {.name = "A3",
     .function = PLAN_MEAN,
     .type = PLAN_FLOAT,
     .frames = {"shard " SVC "field:v:float field:v__agg_count:float | 0 a 1 4 | 0 b nan 1 | "
                "0 c 5 2"},
     .answer = "a 1.0; b nan; c 2.5"},
    {.name = "A4: all nodes count",
     .scalar = true,
     .frames = {"shard " V " | 0 10", "shard " V " | 0 5", "shard " V " | 0 -1"},
     .answer = "14"},
    {.name = "A5",
     .function = PLAN_COUNT,
     .type = PLAN_FLOAT,
     .scalar = true,
     .frames = {"shard field:v:float | 0 2", "shard field:v:float | 0 3"},
     .answer = "5.0"},
    {.name = "A6: the first node carries",
     .frames = {"shard " SVC HOST V " | 0 a h1 1", "shard " SVC HOST V " | 1 a h2 2"},
     .answer = "a h1 3"},
    {.name = "A7: floats are not cut",
     .type = PLAN_FLOAT,
     .scalar = true,
     .frames = {"shard time version series field:v:fv | 0 - 0 0 1.5",
                "shard time version series field:v:fv | 0 - 0 0 2.25"},
     .answer = "3.75"},
    {.name = "messages beside numbers",
     .function = PLAN_MEAN,
     .type = PLAN_FLOAT,
     .frames = {"shard time version series tag:d.svc:tv field:v:fv field:v__agg_count:fv | "
                "0 - 0 0 a 1.5 2.0 | 0 - 0 0 null 4 1 | 0 - 0 0 b null null | 0 - 0 0 c void 1",
                "shard " SVC "field:v:float field:v__agg_count:float | 0 a 2 1 | 0 - 5 2"},
     .answer = "a 1.1666666666666667; null 3.0; b 0.0; c 0.0"},
    {.name = "carried tags of any type",
     .frames = {"shard " SVC "tag:d.host:tv " V " | 0 a null 1 | 0 b [x,y] 2 | 0 c 7 4",
                "shard " SVC HOST V " | 0 a h 8 | 0 d h 16",
                "shard " SVC "tag:d.host:int! " V " | 0 d 3 32"},
     .answer = "a null 9; b [6 bytes] 2; c 7 4; d h 48"},
    {.name = "null, 0 and \"\" are three keys",
     .frames = {"shard " SVC V " | 0 - 1 | 0 \"\" 2",
                "shard tag:d.svc:tv " V " | 0 null 4 | 0 \"\" 8 | 0 0 16 | 0 void 32",
                "shard tag:d.svc:int " V " | 0 - 64 | 0 0 128"},
     .answer = "null 101;  10; 0 144"},
    {.name = "order by node, then by row",
     .frames = {"shard " SVC V " | 0 c 1 | 0 a 1", "shard " SVC V " | 0 b 1 | 0 a 1",
                "shard " SVC V, "shard " SVC V " | 0 0 1 | 0 b 1"},
     .answer = "c 1; a 2; b 2; 0 1"},
    {.name = "a group twice in a frame",
     .frames = {"shard " SVC HOST V " | 0 a h1 1 | 0 b h2 2 | 1 a h3 4"},
     .answer = "a h1 5; b h2 2"},
    {.name = "start values are no values",
     .function = PLAN_MIN,
     .frames = {"shard " SVC V " | 0 a 9223372036854775807 | 0 b 9223372036854775807",
                "shard " SVC V " | 0 a 5 | 0 b -"},
     .answer = "a 5; b null"},
    {.name = "of floats too",
     .function = PLAN_MAX,
     .type = PLAN_FLOAT,
     .frames = {"shard " SVC "field:v:float | 0 a -1.7976931348623157e308 | 0 b -inf",
                "shard " SVC "field:v:fv | 0 a null | 0 b -1.7976931348623157e308"},
     .answer = "a null; b -inf"},
    {.name = "only nulls",
     .frames = {"shard " SVC V " | 0 a -", "shard " SVC "field:v:fv | 0 a null"},
     .answer = "a 0"},
    {.name = "without counts a mean is 0",
     .function = PLAN_MEAN,
     .frames = {"shard " SVC V " | 0 a 7"},
     .answer = "a 0"},
    {.name = "constants",
     .frames = {"shard! tag:d.svc:str! " HOST "field:v:int! | 0 a h1 5 | 0 a h2 5",
                "shard tag:d.svc:str! " HOST V " | 0 a h3 1 | 0 a h4 2"},
     .answer = "a h1 13"},
    {.name = "no rows at all", .scalar = true, .frames = {"shard " V, "shard " V}, .answer = ""},
    {.name = "top, ties in the order of groups",
     .top = 3,
     .frames = {"shard " SVC V " | 0 a 1 | 0 b 5", "shard " SVC V " | 0 c 4 | 0 d 9 | 0 a 3"},
     .answer = "d 9; b 5; a 4"},
    {.name = "top by another field",
     .top = 3,
     .top_field = "w",
     .frames = {"shard " SVC V " | 0 a 1"},
     .answer = "!top reduced frames: ApplyTopToReduce: field \"w\" not present in reduced schema"},
    {.name = "cut",
     .offset = 1,
     .limit = 2,
     .frames = {"shard " SVC V " | 0 a 1 | 0 b 5", "shard " SVC V " | 0 c 4 | 0 d 9 | 0 a 3"},
     .answer = "b 5; c 4"},
    {.name = "no key column",
     .frames = {"shard " HOST V " | 0 a 1"},
     .answer = "!reduce raw frames: key tag \"svc\" not present in partial schema"},
    {.name = "a frame without rows need not have it", .frames = {"shard " HOST V}, .answer = ""},
    {.name = "no value column",
     .frames = {"shard " SVC "field:w:int | 0 a 1"},
     .answer = "!reduce raw frames: agg output column \"v\" not present in partial schema"},
    {.name = "other columns on one node",
     .frames = {"shard " SVC V " | 0 a 1", "shard " SVC HOST V " | 0 a h 1"},
     .answer = "!reduce raw frames: schema of "},
};

static struct plan plan_of(const struct example *example)
{
    const char *top_field = example->top_field == NULL ? "v" : example->top_field;
    return (struct plan){
        .group_count = 1,
        .keys = &by_svc,
        .key_count = example->scalar ? 0 : 1,
        .mode = PLAN_PARTIALS,
        .agg = {.function = example->function,
                .type = example->type,
                .field = slice_str("v"),
                .mean_floor = !example->mean_as_it_is},
        .top = {.number = example->top, .field = slice_str(top_field)},
        .offset = example->offset,
        .limit = example->limit == 0 ? 100 : example->limit,
    };
}

/* Of a failure the beginning. */
static void check(const struct example *example, const struct frames_feed *feeds, size_t count)
{
    const struct plan plan = plan_of(example);
    for (size_t step = 1; step <= 1000; step *= 1000) {
        char *answer = frames_answer(&plan, feeds, count, step);
        size_t len = *answer == '!' ? strlen(example->answer) : strlen(answer) + 1;
        ck_assert_msg(strncmp(answer, example->answer, len) == 0, "%s: \"%s\"", example->name,
                      answer);
        free(answer);
    }
}

START_TEST(partials_add_up_to_the_answer)
{
    const struct example *example = &examples[_i];
    struct frames_feed forwards[4];
    struct frames_feed backwards[4];
    size_t count = 0;
    while (count < 4 && example->frames[count] != NULL) {
        forwards[count] = (struct frames_feed){.rank = count, .text = example->frames[count]};
        count++;
    }
    for (size_t i = 0; i < count; i++) {
        backwards[i] = forwards[count - 1 - i];
    }
    check(example, forwards, count);
    check(example, backwards, count);
}
END_TEST

/* Partials of two groups of the request are never copies of each other. */
START_TEST(several_groups_of_the_request)
{
    struct layout_column columns[] = {
        {.family = slice_str("d"), .name = slice_str("svc")},
        {.family = slice_str("d"), .name = slice_str("env")},
        {.name = slice_str("v")},
    };
    const struct layout layout = {.tag_count = 2, .field_count = 1, .columns = columns};
    const struct example sum = {.name = "groups"};
    struct plan plan = plan_of(&sum);
    plan.group_count = 2;
    plan.layout = &layout;
    const struct frames_feed feeds[] = {
        {1, 0, "shard " SVC V " | 0 a 45 | 0 b 1"},
        {0, 0, "shard tag:d.env:tv " SVC V " | 0 x c 7 | 0 y a 40"},
        {0, 1,
         "shard time version series tag:d.env:tv tag:d.svc:tv field:v:fv | "
         "0 - 0 0 null a 5"},
    };
    for (size_t turn = 0; turn < 3; turn++) {
        const struct frames_feed turned[] = {feeds[turn], feeds[(turn + 1) % 3],
                                             feeds[(turn + 2) % 3]};
        char *answer = frames_answer(&plan, turned, 3, 1000);
        ck_assert_str_eq(answer, "c x 7; a y 90; b null 1");
        free(answer);
    }
}
END_TEST

/* What is fed, beyond what texts can say */

struct fixture {
    struct charge charge;
    struct arena arena;
    struct plan plan;
    struct merge *merge;
};

static void open_merge(struct fixture *fixture, size_t budget)
{
    static const struct example sum = {.name = "sum"};
    *fixture = (struct fixture){.plan = plan_of(&sum)};
    arena_init(&fixture->arena, budget, NULL, &fixture->charge);
    fixture->merge = merge_open(&fixture->plan, DECODE_V3 | DECODE_V4, &fixture->arena);
}

static void close_merge(struct fixture *fixture)
{
    merge_close(&fixture->merge);
    arena_fini(&fixture->arena);
    ck_assert_uint_eq(fixture->charge.total, 0);
}

static bool feed_rows(struct fixture *fixture, size_t rank, size_t first, size_t rows,
                      struct error *err)
{
    struct frame_builder *builder = frame_builder_new(rows);
    frame_builder_column(builder, COLUMN_TAG, COLUMN_STRING, "d", "svc");
    for (size_t i = 0; i < rows; i++) {
        char text[32];
        snprintf(text, sizeof text, "service number %zu", first + i);
        frame_builder_text(builder, text);
    }
    frame_builder_column(builder, COLUMN_FIELD, COLUMN_INT64, NULL, "v");
    for (size_t i = 0; i < rows; i++) {
        frame_builder_int(builder, 1);
    }
    size_t len;
    uint8_t *bytes = frame_builder_encode(builder, 3 + rank % 2, &len);
    struct msg *msg = msg_copy_of(slice_of(bytes, len), &fixture->charge);
    free(bytes);
    frame_builder_free(&builder);
    bool fed = merge_feed(fixture->merge, 0, rank, msg, msg_bytes(msg), err);
    msg_release(&msg);
    ck_assert_uint_eq(fixture->charge.bytes[CHARGE_MESSAGE], 0);
    return fed;
}

START_TEST(memory_grows_with_groups_alone)
{
    struct fixture fixture;
    struct error err;
    open_merge(&fixture, SIZE_MAX);
    ck_assert(feed_rows(&fixture, 100, 0, 5000, &err));
    const uint8_t *at = fixture.arena.at;
    for (size_t node = 100; node > 0; node--) { /* each gives the groups a lower rank */
        ck_assert(feed_rows(&fixture, node - 1, 0, 5000, &err));
    }
    ck_assert_ptr_eq(fixture.arena.at, at);
    close_merge(&fixture);
}
END_TEST

START_TEST(the_budget_is_kept)
{
    struct fixture fixture;
    struct error err = {0};
    open_merge(&fixture, 1 << 20);
    size_t first = 0;
    while (feed_rows(&fixture, 0, first, 10000, &err)) {
        first += 10000;
        ck_assert_uint_lt(first, 100000);
    }
    ck_assert_int_eq(err.code, ERROR_RESOURCE_EXHAUSTED);
    ck_assert_uint_lt(fixture.arena.capacity, 4 << 20);
    close_merge(&fixture);
}
END_TEST

START_TEST(what_is_no_frame_is_refused)
{
    struct fixture fixture;
    struct error err = {0};
    open_merge(&fixture, SIZE_MAX);
    struct msg *msg = msg_copy_of(slice_str("not a frame"), &fixture.charge);
    ck_assert(!merge_feed(fixture.merge, 0, 0, msg, msg_bytes(msg), &err));
    ck_assert_int_ne(err.code, ERROR_NONE);
    msg_release(&msg);
    close_merge(&fixture);
}
END_TEST

/* A cell that is not a message is found wherever it stands: key, carried tag, value. */
START_TEST(broken_cells_are_refused)
{
    static const char *const names[] = {"svc", "host", "v"};
    for (size_t broken = 0; broken < 3; broken++) {
        struct fixture fixture;
        struct error err = {0};
        open_merge(&fixture, SIZE_MAX);
        struct frame_builder *builder = frame_builder_new(1);
        for (size_t i = 0; i < 3; i++) {
            bool field = i == 2;
            frame_builder_column(builder, field ? COLUMN_FIELD : COLUMN_TAG,
                                 field ? COLUMN_FIELD_VALUE : COLUMN_TAG_VALUE, field ? "" : "d",
                                 names[i]);
            frame_builder_text(builder, i == broken ? "\x12\x7f" : "");
        }
        size_t len;
        uint8_t *bytes = frame_builder_encode(builder, 4, &len);
        struct msg *msg = msg_copy_of(slice_of(bytes, len), &fixture.charge);
        free(bytes);
        frame_builder_free(&builder);
        ck_assert(!merge_feed(fixture.merge, 0, 0, msg, msg_bytes(msg), &err));
        ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
        ck_assert_ptr_nonnull(strstr(err.text, names[broken]));
        msg_release(&msg);
        close_merge(&fixture);
    }
}
END_TEST

static bool count_row(struct sink *sink, const struct row *row, struct error *err)
{
    (void)sink;
    (void)row;
    (void)err;
    return true;
}

static bool begin_rows(struct sink *sink, const struct layout *layout, struct error *err)
{
    (void)sink;
    (void)layout;
    (void)err;
    return true;
}

/* The first column of this role gives its name, as a plan would know it. */
static struct slice name_of(const struct view *view, enum column_role role, struct slice *family)
{
    const struct column *column = view_role(view, role);
    *family = column == NULL ? slice_str("") : column->family;
    return column == NULL ? slice_str("") : column->name;
}

/* Frames of any columns and cells: folded or refused, never a fault. */
START_TEST(any_frame_is_folded_or_refused)
{
    uint64_t state = (uint64_t)_i + 1;
    struct test_room room;
    for (int round = 0; round < 200; round++) {
        struct fixture fixture;
        struct error err;
        struct view view;
        struct slice family;
        struct sink sink = {begin_rows, count_row};
        open_merge(&fixture, SIZE_MAX);
        test_room_init(&room);
        struct frame_builder *builder = frame_random(&state, 200);
        size_t len;
        uint8_t *bytes = frame_builder_encode(builder, 3 + (unsigned)(round % 2), &len);
        struct msg *msg = msg_copy_of(slice_of(bytes, len), &fixture.charge);
        ck_assert(decode_view(msg_bytes(msg), DECODE_V3 | DECODE_V4, &room.room, &view, &err));
        struct plan_tag key;
        key.name = name_of(&view, COLUMN_TAG, &key.family);
        fixture.plan.keys = &key;
        fixture.plan.key_count = key.name.len > 0;
        fixture.plan.agg.field = name_of(&view, COLUMN_FIELD, &family);
        fixture.plan.agg.function = (enum plan_function)random_below(&state, 5);
        fixture.plan.agg.type = (enum plan_type)random_below(&state, 2);
        if (merge_feed(fixture.merge, 0, 0, msg, msg_bytes(msg), &err)) {
            while (merge_run(fixture.merge, &sink, 10, &err) == MERGE_MORE) {
            }
        }
        msg_release(&msg);
        free(bytes);
        frame_builder_free(&builder);
        close_merge(&fixture);
        test_room_fini(&room);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge partial");
    TCase *tests = tcase_create("partial");
    tcase_add_loop_test(tests, partials_add_up_to_the_answer, 0,
                        sizeof examples / sizeof *examples);
    tcase_add_test(tests, several_groups_of_the_request);
    tcase_add_test(tests, memory_grows_with_groups_alone);
    tcase_add_test(tests, the_budget_is_kept);
    tcase_add_test(tests, what_is_no_frame_is_refused);
    tcase_add_test(tests, broken_cells_are_refused);
    tcase_add_loop_test(tests, any_frame_is_folded_or_refused, 0, 20);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
