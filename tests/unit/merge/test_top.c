// SPDX-License-Identifier: Apache-2.0
/* The best rows, as sorting all of them and cutting would give. */
#include "merge/top.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/merge/frames.h"

#include <math.h>
#include <stdio.h>

static struct cell number(int64_t value)
{
    return (struct cell){.kind = CELL_INT, .number.i = value};
}

static struct cell real(double value)
{
    return (struct cell){.kind = CELL_FLOAT, .number.f = value};
}

START_TEST(values_have_one_order)
{
    const struct cell classes[][3] = {
        /* each row: equal values; rows ascend */
        {{.kind = CELL_NULL}, {.kind = CELL_STRING}, {.kind = CELL_BINARY}},
        {real(NAN), real(-NAN), real(NAN)},
        {real(-INFINITY), real(-INFINITY), real(-INFINITY)},
        {real(-0x1.0000000000001p63), real(-0x1.0000000000001p63), real(-0x1.0000000000001p63)},
        {number(INT64_MIN), real(-0x1p63), number(INT64_MIN)},
        {number(INT64_MIN + 1), number(INT64_MIN + 1), number(INT64_MIN + 1)},
        {real(-0x1.fffffffffffffp62), number(-0x7ffffffffffffc00), real(-0x1.fffffffffffffp62)},
        {real(-1.5), real(-1.5), real(-1.5)},
        {number(-1), real(-1), number(-1)},
        {real(-0.5), real(-0.5), real(-0.5)},
        {number(0), real(0.0), real(-0.0)},
        {real(0.5), real(0.5), real(0.5)},
        {number(1), real(1), number(1)},
        {number((INT64_C(1) << 53) - 1), real(0x1.fffffffffffffp52), real(0x1.fffffffffffffp52)},
        {number(INT64_C(1) << 53), real(0x1p53), real(0x1p53)},
        {number((INT64_C(1) << 53) + 1), number((INT64_C(1) << 53) + 1),
         number((INT64_C(1) << 53) + 1)},
        {number(INT64_MAX), number(INT64_MAX), number(INT64_MAX)},
        {real(0x1p63), real(0x1p63), real(0x1p63)},
        {real(INFINITY), real(INFINITY), real(INFINITY)},
    };
    const size_t count = sizeof classes / sizeof *classes;
    for (size_t a = 0; a < 3 * count; a++) {
        for (size_t b = 0; b < 3 * count; b++) {
            int order = top_compare(&classes[a / 3][a % 3], &classes[b / 3][b % 3]);
            int expected = (a / 3 > b / 3) - (a / 3 < b / 3);
            ck_assert_msg((order > 0) - (order < 0) == expected, "%zu.%zu, %zu.%zu: %d", a / 3,
                          a % 3, b / 3, b % 3, order);
        }
    }
}
END_TEST

#define T1 "time version series field:v:int | 1 1 1 4 | 2 1 1 - | 3 1 1 9 | 4 1 1 4 | 5 1 1 7"
#define MIXED                                                                                      \
    "time version series field:v:fv field:w:str | 1 1 1 4 a | 2 1 1 null b | 3 1 1 4.5 c | "       \
    "4 1 1 text d | 5 1 1 nan e | 6 1 1 -1 f"

struct example {
    int64_t number;
    bool ascending;
    bool hidden;
    uint64_t offset;
    uint64_t limit;
    const char *field;
    const char *frame;
    const char *answer;
};

static const struct example examples[] = {
    {3, false, false, 0, 100, "v", T1, "3/1/1: 9; 5/1/1: 7; 1/1/1: 4"},
    {2, true, false, 0, 100, "v", T1, "2/1/1: null; 1/1/1: 4"},
    {0, true, false, 0, 100, "v", T1, "1/1/1: 4; 2/1/1: null; 3/1/1: 9; 4/1/1: 4; 5/1/1: 7"},
    {-5, false, false, 1, 1, "v", T1, "2/1/1: null"},
    {INT64_MAX, false, false, 0, 100, "v", T1,
     "3/1/1: 9; 5/1/1: 7; 1/1/1: 4; 4/1/1: 4; 2/1/1: null"},
    {4, false, false, 1, 2, "v", T1, "5/1/1: 7; 1/1/1: 4"},
    {4, false, true, 0, 2, "v", MIXED, "3/1/1: c; 1/1/1: a"},
    {6, true, false, 0, 100, "v", MIXED,
     "2/1/1: null b; 4/1/1: text d; 5/1/1: nan e; 6/1/1: -1 f; 1/1/1: 4 a; 3/1/1: 4.5 c"},
    {6, false, true, 0, 100, "w", MIXED,
     "1/1/1: 4; 2/1/1: null; 3/1/1: 4.5; 4/1/1: text; 5/1/1: nan; 6/1/1: -1"},
    {1, false, false, 0, 100, "x", T1, "!apply top to rows: top field x not found in schema"},
    {1, false, false, 0, 100, "x", "time version series field:v:int", ""},
};

START_TEST(tops_of_rows)
{
    const struct example *example = &examples[_i];
    const struct plan plan = {
        .group_count = 1,
        .offset = example->offset,
        .limit = example->limit,
        .top = {.number = example->number,
                .ascending = example->ascending,
                .hidden = example->hidden,
                .field = slice_str(example->field)},
    };
    const struct frames_feed feed = {.text = example->frame};
    for (size_t step = 1; step < 1000; step *= 3) {
        char *answer = frames_answer(&plan, &feed, 1, step);
        ck_assert_str_eq(answer, example->answer);
        free(answer);
    }
}
END_TEST

/* Sort and cut */

#define ROWS 300

struct numbered {
    struct cell cells[2];
    size_t place;
};

struct taker {
    struct sink sink;
    struct numbered rows[ROWS];
    size_t count;
};

static bool begin(struct sink *sink, const struct layout *layout, struct error *err)
{
    (void)layout;
    (void)err;
    ((struct taker *)sink)->count = 0;
    return true;
}

static bool take(struct sink *sink, const struct row *row, struct error *err)
{
    (void)err;
    struct taker *taker = (struct taker *)sink;
    struct numbered *to = &taker->rows[taker->count++];
    to->cells[0] = row->cells[0];
    to->cells[1] = row->cells[1];
    to->place = (size_t)row->timestamp;
    return true;
}

static bool ascending;

static int by_value(const void *a, const void *b)
{
    const struct numbered *row_a = a;
    const struct numbered *row_b = b;
    int order = top_compare(&row_a->cells[1], &row_b->cells[1]);
    if (order != 0) {
        return ascending ? order : -order;
    }
    return row_a->place < row_b->place ? -1 : 1;
}

static struct cell random_value(uint64_t *state)
{
    switch (random_below(state, 6)) {
    case 0:
        return (struct cell){.kind = CELL_NULL};
    case 1:
        return real(NAN);
    case 2:
    case 3:
        return real((double)random_below(state, 40) / 4);
    default:
        return number((int64_t)random_below(state, 10));
    }
}

static void run_top(const struct plan *plan, struct taker *taker, const struct numbered *rows,
                    size_t count)
{
    static struct layout_column columns[2];
    columns[0].name = slice_str("text");
    columns[1].name = slice_str("v");
    const struct layout layout = {.tag_count = 1, .field_count = 1, .columns = columns};
    struct arena arena;
    struct top top;
    enum stage_state state;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    top_init(&top, plan, &arena, &taker->sink);
    ck_assert(top.stage.sink.begin(&top.stage.sink, &layout, NULL));
    for (size_t i = 0; i < count; i++) {
        char text[32]; /* as short-lived as can be */
        struct cell cells[2] = {{.kind = CELL_STRING}, rows[i].cells[1]};
        int len = snprintf(text, sizeof text, "%0*zu", 1 + (int)(i % 9), i);
        cells[0].bytes = slice_of(text, (size_t)len);
        const struct row row = {.has_time = true, .timestamp = (int64_t)i, .cells = cells};
        ck_assert(top.stage.sink.row(&top.stage.sink, &row, NULL));
    }
    while ((state = top.stage.drain(&top.stage, NULL)) == STAGE_MORE) {
    }
    ck_assert_int_eq(state, STAGE_DONE);
    for (size_t i = 0; i < taker->count; i++) {
        char text[32];
        size_t place = taker->rows[i].place;
        snprintf(text, sizeof text, "%0*zu", 1 + (int)(place % 9), place);
        ck_assert(slice_equal(taker->rows[i].cells[0].bytes, slice_str(text)));
    }
    arena_fini(&arena);
}

START_TEST(top_is_sort_and_cut)
{
    static struct numbered rows[ROWS];
    static struct taker taker;
    uint64_t state = (uint64_t)_i + 1;
    taker.sink = (struct sink){begin, take};
    for (int round = 0; round < 50; round++) {
        size_t count = random_below(&state, ROWS + 1);
        for (size_t i = 0; i < count; i++) {
            rows[i] = (struct numbered){.cells = {{0}, random_value(&state)}, .place = i};
        }
        const struct plan plan = {.top = {.number = 1 + (int64_t)random_below(&state, 50),
                                          .ascending = random_below(&state, 2) == 0,
                                          .field = slice_str("v")}};
        run_top(&plan, &taker, rows, count);
        ascending = plan.top.ascending;
        qsort(rows, count, sizeof *rows, by_value);
        size_t wanted = count < (size_t)plan.top.number ? count : (size_t)plan.top.number;
        ck_assert_uint_eq(taker.count, wanted);
        for (size_t i = 0; i < wanted; i++) {
            ck_assert_uint_eq(taker.rows[i].place, rows[i].place);
        }
    }
}
END_TEST

START_TEST(memory_does_not_grow_with_rows)
{
    static struct layout_column column = {0};
    const struct layout layout = {.field_count = 1, .columns = &column};
    const struct plan plan = {.top = {.number = 10}};
    static struct taker taker = {.sink = {begin, take}};
    struct arena arena;
    struct top top;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    top_init(&top, &plan, &arena, &taker.sink);
    ck_assert(top.stage.sink.begin(&top.stage.sink, &layout, NULL));
    const uint8_t *at = NULL;
    for (int64_t i = 0; i < 10000; i++) { /* each row takes a place */
        const struct cell cell = number(i);
        const struct row row = {.cells = &cell};
        at = i == 10 ? arena.at : at;
        ck_assert(top.stage.sink.row(&top.stage.sink, &row, NULL));
    }
    ck_assert_ptr_eq(arena.at, at);
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge top");
    TCase *tests = tcase_create("top");
    tcase_add_test(tests, values_have_one_order);
    tcase_add_loop_test(tests, tops_of_rows, 0, sizeof examples / sizeof *examples);
    tcase_add_loop_test(tests, top_is_sort_and_cut, 0, 10);
    tcase_add_test(tests, memory_does_not_grow_with_rows);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
