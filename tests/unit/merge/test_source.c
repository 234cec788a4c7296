// SPDX-License-Identifier: Apache-2.0
/* Sources: what is found where in a frame, how columns meet a layout, and the walk over rows. */
#include "frame/charge.h"
#include "merge/source.h"
#include "tests/support/frame_builder.h"
#include "tests/unit/merge/opened.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static struct plan plan_by(const char *tag)
{
    struct plan plan = {.group_count = 1, .limit = 100};
    if (tag != NULL) {
        plan.order = PLAN_BY_TAG;
        plan.order_tag = (struct plan_tag){slice_str("f"), slice_str(tag)};
    }
    return plan;
}

static const struct {
    const char *frame;
    const char *order; /* a tag, NULL: by time */
    const char *text;
} refused[] = {
    {"time version tag:f.a:str | 1 1 x", NULL,
     "row merge requires series-id, timestamp, and version columns without nulls"},
    {"time series tag:f.a:str | 1 1 x", NULL,
     "row merge requires series-id, timestamp, and version columns without nulls"},
    {"version series tag:f.a:str | 1 1 x", NULL,
     "row merge requires series-id, timestamp, and version columns without nulls"},
    {"time version series | 1 1 1 | - 1 1", NULL,
     "row merge requires series-id, timestamp, and version columns without nulls"},
    {"time version series | 1 1 1 | 1 - 1", NULL,
     "row merge requires series-id, timestamp, and version columns without nulls"},
    {"time version series | 1 1 - | 1 1 1", NULL,
     "row merge requires series-id, timestamp, and version columns without nulls"},
    {"time version series tag:f.a:str | 1 1 1 x", "b",
     "row merge: OrderBy tag f.b not found in merged-batch schema"},
    {"time version series tag:g.b:str | 1 1 1 x", "b",
     "row merge: OrderBy tag f.b not found in merged-batch schema"},
    {"time version series field:b:str | 1 1 1 x", "b",
     "row merge: OrderBy tag f.b not found in merged-batch schema"},
};

START_TEST(frames_that_cannot_be_merged)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct plan plan = plan_by(refused[i].order);
        struct source source = {0};
        struct error err = {0};
        struct arena arena;
        arena_init(&arena, SIZE_MAX, NULL, NULL);
        struct msg *msg = opened_view(refused[i].frame, 4, &arena, &source.view);
        ck_assert_msg(!source_open(&source, &plan, &arena, &err), "%s", refused[i].frame);
        ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
        ck_assert_str_eq(err.text, refused[i].text);
        msg_release(&msg);
        arena_fini(&arena);
    }
}
END_TEST

/* A frame of a query that filters by a tag which is not asked for has other places and names. */
START_TEST(metadata_is_found_by_role)
{
    static const char *const frames[] = {
        "time version series shard tag:f.a:str | 5 6 7 8 x | 4 6 7 8 x",
        "shard time version series tag:f.a:tv | 8 5 6 7 x | 8 4 6 7 x",
        "series! tag:f.a:tv version! time | 7 x 6 5 | 7 x 6 4",
    };
    struct plan plan = plan_by(NULL);
    for (size_t i = 0; i < COUNT(frames); i++) {
        struct arena arena;
        arena_init(&arena, SIZE_MAX, NULL, NULL);
        struct source *source = opened_source(frames[i], i, &plan, &arena);
        ck_assert_int_eq(column_int(source->time, 0), 5);
        ck_assert_int_eq(column_int(source->version, 1), 6);
        ck_assert_int_eq(column_int(source->series, 1), 7);
        ck_assert_int_eq(column_int(source->time, order_row(&source->order, 0)), 4);
        source_unpin(source, NULL);
        arena_fini(&arena);
    }
}
END_TEST

START_TEST(of_several_groups_one_may_lack_the_order_tag)
{
    const struct layout layout = {0};
    struct plan plan = plan_by("b");
    plan.layout = &layout;
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct source *source = opened_source("time version series | 2 1 1 | 1 1 1", 0, &plan, &arena);
    ck_assert(!source->key.present);
    ck_assert_uint_eq(source_run(source, SIZE_MAX), 2);
    source_unpin(source, NULL);
    arena_fini(&arena);
}
END_TEST

START_TEST(layout_of_a_frame)
{
    struct plan plan = plan_by("b");
    plan.order_hidden = true;
    plan.top = (struct plan_top){.number = 1, .hidden = true, .field = slice_str("w")};
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct source *source = opened_source("field:v:int time version series tag:g.b:str tag:f.b:str "
                                          "tag:f.w:str field:w:int field:b:int "
                                          "| 1 1 1 1 x y z 1 1",
                                          0, &plan, &arena);
    const struct layout *layout = source_layout(source, &plan, &arena);
    source_unpin(source, NULL); /* names stay */
    static const struct {
        const char *family;
        const char *name;
        bool hidden;
    } columns[] = {{"g", "b", false}, {"f", "b", true}, {"f", "w", false},
                   {"", "v", false},  {"", "w", true},  {"", "b", false}};
    ck_assert_uint_eq(layout->tag_count, 3);
    ck_assert_uint_eq(layout->field_count, 3);
    for (size_t i = 0; i < COUNT(columns); i++) {
        ck_assert(slice_equal(layout->columns[i].family, slice_str(columns[i].family)));
        ck_assert(slice_equal(layout->columns[i].name, slice_str(columns[i].name)));
        ck_assert(layout->columns[i].hidden == columns[i].hidden);
    }
    arena_fini(&arena);
}
END_TEST

#define META "time version series "

/* The second frame against the layout of the first. */
static const struct {
    const char *first;
    const char *second;
    const char *text; /* NULL: they go together */
} pairs[] = {
    {META "tag:f.a:str field:v:int | 1 1 1 x 1", META "tag:f.a:tv field:v:fv | 1 1 1 x 1", NULL},
    {META "tag:f.a:str field:v:int | 1 1 1 x 1",
     "shard series field:v:float version tag:f.a:bytes time | 1 1 1 1 x 1", NULL},
    {META "tag:f.a:str | 1 1 1 x", META "tag:f.a:str tag:f.b:str | 1 1 1 x y",
     "schema of 2 tags and 0 fields != baseline of 1 tags and 0 fields"},
    {META "field:v:int | 1 1 1 1", META " | 1 1 1",
     "schema of 0 tags and 0 fields != baseline of 0 tags and 1 fields"},
    {META "tag:f.a:str | 1 1 1 x", META "field:a:str | 1 1 1 x",
     "schema of 0 tags and 1 fields != baseline of 1 tags and 0 fields"},
    {META "tag:f.a:str tag:f.b:str | 1 1 1 x y", META "tag:f.b:str tag:f.a:str | 1 1 1 y x",
     "column 3 layout mismatch: baseline=\"f\".\"a\" role=tag vs frame=\"f\".\"b\""},
    {META "tag:f.a:str | 1 1 1 x", META "tag:g.a:str | 1 1 1 x",
     "column 3 layout mismatch: baseline=\"f\".\"a\" role=tag vs frame=\"g\".\"a\""},
    {META "tag:f.a:str field:v:int | 1 1 1 x 1", META "tag:f.a:str field:w:int | 1 1 1 x 1",
     "column 4 layout mismatch: baseline=\"\".\"v\" role=field vs frame=\"\".\"w\""},
};

START_TEST(frames_of_one_group_agree)
{
    struct plan plan = plan_by(NULL);
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct arena arena;
        struct error err = {0};
        arena_init(&arena, SIZE_MAX, NULL, NULL);
        struct source *first = opened_source(pairs[i].first, 0, &plan, &arena);
        struct source *second = opened_source(pairs[i].second, 1, &plan, &arena);
        const struct layout *layout = source_layout(first, &plan, &arena);
        ck_assert(source_bind_same(first, layout, &arena, &err));
        bool bound = source_bind_same(second, layout, &arena, &err);
        ck_assert_msg(bound == (pairs[i].text == NULL), "%s", pairs[i].second);
        ck_assert_str_eq(err.text, bound ? "" : pairs[i].text);
        ck_assert_int_eq(err.code, bound ? ERROR_NONE : ERROR_DATA_LOSS);
        source_unpin(first, NULL);
        source_unpin(second, NULL);
        arena_fini(&arena);
    }
}
END_TEST

START_TEST(frames_of_several_groups_are_found_by_name)
{
    struct layout_column columns[] = {
        {slice_str("f"), slice_str("a"), false}, {slice_str("f"), slice_str("b"), false},
        {slice_str("g"), slice_str("a"), false}, {slice_str(""), slice_str("v"), false},
        {slice_str(""), slice_str("a"), false},
    };
    const struct layout layout = {.tag_count = 3, .field_count = 2, .columns = columns};
    struct plan plan = plan_by(NULL);
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct source *source =
        opened_source("field:a:int tag:g.a:str! " META "tag:f.z:str tag:f.a:str "
                      "| 7 constant 1 1 1 z x | 8 constant 2 1 1 z -",
                      1, &plan, &arena); /* version 4: with constants */
    ck_assert(source_bind_named(source, &layout, &arena, NULL));
    ck_assert_uint_eq(source->varying_count, 2);
    ck_assert(source_read(source, 0, NULL));
    ck_assert(slice_equal(source->cells[0].bytes, slice_str("x")));
    ck_assert_int_eq(source->cells[1].kind, CELL_NULL);
    ck_assert(slice_equal(source->cells[2].bytes, slice_str("constant")));
    ck_assert_int_eq(source->cells[3].kind, CELL_NULL);
    ck_assert_int_eq(source->cells[4].number.i, 7);
    ck_assert(source_read(source, 1, NULL));
    ck_assert_int_eq(source->cells[0].kind, CELL_NULL);
    ck_assert_int_eq(source->cells[4].number.i, 8);
    source_unpin(source, NULL);
    arena_fini(&arena);
}
END_TEST

START_TEST(rows_are_walked_in_merge_order)
{
    struct plan plan = plan_by(NULL);
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct source *source =
        opened_source(META "| 3 1 0 | -1 1 1 | 3 1 2 | 2 1 3 | -1 1 4", 0, &plan, &arena);
    static const struct {
        size_t run;
        int64_t time;
    } runs[] = {{2, -1}, {1, 2}, {2, 3}};
    for (size_t i = 0; i < COUNT(runs); i++) {
        ck_assert(!source_is_drained(source));
        struct key key = key_of_int(runs[i].time);
        ck_assert_int_eq(key_compare(&source->key, &key), 0);
        ck_assert_uint_eq(source_run(source, SIZE_MAX), runs[i].run);
        source_advance(source, runs[i].run);
    }
    ck_assert(source_is_drained(source));
    source_unpin(source, NULL);
    arena_fini(&arena);
}
END_TEST

START_TEST(a_pin_is_counted)
{
    struct charge charge = {0};
    struct plan plan = plan_by(NULL);
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, &charge);
    struct source *source = opened_source(META "| 3 1 0", 0, &plan, &arena);
    ck_assert_uint_eq(charge.count[CHARGE_VIEW], 1);
    source_unpin(source, &charge);
    ck_assert_uint_eq(charge.count[CHARGE_VIEW], 0);
    source_unpin(source, &charge); /* once is enough */
    ck_assert_uint_eq(charge.count[CHARGE_VIEW], 0);
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source");
    TCase *tcase = tcase_create("source");
    tcase_add_test(tcase, frames_that_cannot_be_merged);
    tcase_add_test(tcase, metadata_is_found_by_role);
    tcase_add_test(tcase, of_several_groups_one_may_lack_the_order_tag);
    tcase_add_test(tcase, layout_of_a_frame);
    tcase_add_test(tcase, frames_of_one_group_agree);
    tcase_add_test(tcase, frames_of_several_groups_are_found_by_name);
    tcase_add_test(tcase, rows_are_walked_in_merge_order);
    tcase_add_test(tcase, a_pin_is_counted);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
