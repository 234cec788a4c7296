// SPDX-License-Identifier: Apache-2.0
/*
 * What a merge holds and for how long: a message goes with its last row, everything goes at the
 * end, however it ends. And how it ends badly: malformed cells, a spent budget, a sink that stops.
 */
#include "frame/charge.h"
#include "frame/decode.h"
#include "merge/merge.h"
#include "tests/support/frame_builder.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/merge/frames.h"

#include <stdio.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define MOST         4
#define META         "time version series "

/* Writes down how many messages are held while each row is given; may stop at some row. */
struct watcher {
    struct sink sink;
    const struct charge *charge;
    char held[64]; /* of the first 16 rows */
    size_t rows;
    size_t stop_at; /* this row is not taken; 0: none. SIZE_MAX: not even the layout */
};

static bool watcher_begin(struct sink *sink, const struct layout *layout, struct error *err)
{
    (void)layout;
    struct watcher *watcher = (struct watcher *)sink;
    return watcher->stop_at != SIZE_MAX || error_set(err, ERROR_ABORTED, "no layout wanted");
}

static bool watcher_row(struct sink *sink, const struct row *row, struct error *err)
{
    (void)row;
    struct watcher *watcher = (struct watcher *)sink;
    size_t held = watcher->charge->count[CHARGE_MESSAGE];
    ck_assert_uint_eq(held, watcher->charge->count[CHARGE_VIEW]);
    if (watcher->rows < 16) {
        char text[24];
        snprintf(text, sizeof text, "%zu ", held);
        strcat(watcher->held, text);
    }
    return ++watcher->rows != watcher->stop_at || error_set(err, ERROR_ABORTED, "enough");
}

struct fixture {
    struct charge charge;
    struct arena arena;
    struct plan plan;
    struct watcher watcher;
    struct merge *merge;
    struct error err;
};

static void open_merge(struct fixture *fixture, size_t budget)
{
    *fixture = (struct fixture){.plan = {.group_count = 1, .limit = 1000000}};
    fixture->watcher.sink = (struct sink){watcher_begin, watcher_row};
    fixture->watcher.charge = &fixture->charge;
    arena_init(&fixture->arena, budget, NULL, &fixture->charge);
    fixture->merge = merge_open(&fixture->plan, DECODE_V3 | DECODE_V4, &fixture->arena);
}

static bool feed(struct fixture *fixture, size_t rank, struct msg *msg)
{
    bool fed = merge_feed(fixture->merge, 0, rank, msg, msg_bytes(msg), &fixture->err);
    msg_release(&msg);
    return fed;
}

static void feed_all(struct fixture *fixture, const char *const *frames)
{
    for (size_t i = 0; i < MOST && frames[i] != NULL; i++) {
        ck_assert(feed(fixture, i, frames_make(frames[i], 3 + i % 2, &fixture->charge)));
    }
}

static enum merge_state run(struct fixture *fixture, size_t step)
{
    enum merge_state state;
    do {
        state = merge_run(fixture->merge, &fixture->watcher.sink, step, &fixture->err);
    } while (state == MERGE_MORE);
    ck_assert_int_eq(merge_run(fixture->merge, &fixture->watcher.sink, step, &fixture->err), state);
    return state;
}

static void close_merge(struct fixture *fixture)
{
    merge_close(&fixture->merge);
    ck_assert_ptr_null(fixture->merge);
    merge_close(&fixture->merge);
    arena_fini(&fixture->arena);
    for (size_t kind = 0; kind < CHARGE_KINDS; kind++) {
        ck_assert_uint_eq(fixture->charge.count[kind], 0);
        ck_assert_uint_eq(fixture->charge.bytes[kind], 0);
    }
}

static const struct {
    const char *frames[MOST];
    const char *held; /* while each row is given */
} examples[] = {
    {{META "| 1 1 1"}, "1 "},
    {{META "| 1 1 1 | 2 1 1", META "| 1 1 2 | 2 1 2"}, "2 2 2 1 "},
    {{META "| 1 1 1", META "| 2 1 2", META "| 3 1 3"}, "3 2 1 "},
    {{META "| 3 1 1", META "| 2 1 2", META "| 1 1 3"}, "3 2 1 "},
    {{META "| 1 1 1 | 1 1 2", META "| 1 1 3 | 1 1 4"}, "2 2 1 1 "},
    /* all rows of the second lose: it goes at the window's end */
    {{META "| 1 1 1 | 2 1 1", META "| 1 1 1"}, "2 1 "},
    /* rows of the first lose to newer ones: it goes with its last all the same */
    {{META "| 1 1 1", META "| 1 2 1 | 2 1 1"}, "1 1 "},
    {{META "| 1 1 1 | 1 1 2", META "| 1 2 2 | 1 1 3"}, "2 1 1 "},
    {{META "| 1 1 1", META}, "1 "},
};

START_TEST(a_message_goes_with_its_last_row)
{
    for (size_t i = 0; i < 3 * COUNT(examples); i++) {
        struct fixture fixture;
        open_merge(&fixture, SIZE_MAX);
        feed_all(&fixture, examples[i / 3].frames);
        ck_assert_int_eq(run(&fixture, i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 1000), MERGE_DONE);
        ck_assert_msg(strcmp(fixture.watcher.held, examples[i / 3].held) == 0,
                      "example %zu: %s instead of %s", i / 3, fixture.watcher.held,
                      examples[i / 3].held);
        ck_assert_uint_eq(fixture.charge.count[CHARGE_MESSAGE], 0); /* before it is closed */
        close_merge(&fixture);
    }
}
END_TEST

/* One time, and every row of the first node is older than that of the second. */
static void feed_old_rows(struct fixture *fixture, size_t rows)
{
    for (size_t node = 0; node < 2; node++) {
        char *text = NULL;
        size_t len;
        FILE *frame = open_memstream(&text, &len);
        fputs(META, frame);
        for (size_t row = 0; row < rows; row++) {
            fprintf(frame, "| 1 %zu %zu ", 1 + node, 1 + row);
        }
        fclose(frame);
        ck_assert(feed(fixture, node, frames_make(text, 4, &fixture->charge)));
        free(text);
    }
}

/* Each is put into the window, and out of it, by a step of its own. */
START_TEST(old_rows_take_steps_too)
{
    enum { ROWS = 60 };
    struct fixture fixture;
    open_merge(&fixture, SIZE_MAX);
    feed_old_rows(&fixture, ROWS);
    size_t calls = 1;
    while (merge_run(fixture.merge, &fixture.watcher.sink, 1, &fixture.err) == MERGE_MORE) {
        calls++;
    }
    ck_assert_uint_eq(fixture.watcher.rows, ROWS);
    ck_assert_uint_ge(calls, 4 * ROWS);
    close_merge(&fixture);
}
END_TEST

START_TEST(the_charge_is_the_capacity_of_what_is_pinned)
{
    struct fixture fixture;
    open_merge(&fixture, SIZE_MAX);
    struct msg *msg = frames_make(META "| 1 1 1", 4, &fixture.charge);
    size_t capacity = msg_capacity(msg);
    ck_assert(feed(&fixture, 0, msg));
    ck_assert_uint_eq(fixture.charge.bytes[CHARGE_MESSAGE], capacity);
    ck_assert(feed(&fixture, 1, frames_make(META, 4, &fixture.charge)));
    ck_assert_uint_eq(fixture.charge.bytes[CHARGE_MESSAGE], capacity); /* no rows, no pin */
    close_merge(&fixture);
}
END_TEST

START_TEST(nothing_is_held_when_the_answer_is_full)
{
    struct fixture fixture;
    open_merge(&fixture, SIZE_MAX);
    fixture.plan.limit = 1;
    merge_close(&fixture.merge);
    fixture.merge = merge_open(&fixture.plan, DECODE_V3 | DECODE_V4, &fixture.arena);
    feed_all(&fixture, examples[1].frames);
    ck_assert_int_eq(run(&fixture, 1), MERGE_DONE);
    ck_assert_uint_eq(fixture.watcher.rows, 1);
    ck_assert_uint_eq(fixture.charge.count[CHARGE_MESSAGE], 0);
    close_merge(&fixture);
}
END_TEST

START_TEST(nothing_is_held_after_close_at_any_step)
{
    for (size_t steps = 0; steps < 12; steps++) {
        struct fixture fixture;
        open_merge(&fixture, SIZE_MAX);
        feed_all(&fixture, examples[4].frames);
        for (size_t i = 0; i < steps; i++) {
            merge_run(fixture.merge, &fixture.watcher.sink, 1, &fixture.err);
        }
        close_merge(&fixture);
    }
}
END_TEST

/* Sums v by nothing. */
static void open_sum(struct fixture *fixture)
{
    open_merge(fixture, SIZE_MAX);
    merge_close(&fixture->merge);
    fixture->plan.mode = PLAN_FOLD;
    fixture->plan.agg = (struct plan_agg){.function = PLAN_SUM, .field = slice_str("v")};
    fixture->merge = merge_open(&fixture->plan, DECODE_V3 | DECODE_V4, &fixture->arena);
}

static enum merge_state run_part(struct fixture *fixture, bool more)
{
    merge_expect(fixture->merge, more);
    enum merge_state state = MERGE_MORE;
    while (state == MERGE_MORE) {
        state = merge_run(fixture->merge, &fixture->watcher.sink, 1, &fixture->err);
    }
    return state;
}

START_TEST(what_is_folded_leaves_its_groups_alone)
{
    static const char *const parts[] = {META "field:v:int", META "field:v:int | 1 1 1 5 | 2 1 1 6",
                                        META "field:v:int | 3 1 1 7"};
    struct fixture fixture;
    open_sum(&fixture);
    for (size_t i = 0; i < COUNT(parts); i++) { /* the first has no rows to tell a layout */
        ck_assert(!merge_has_rows(fixture.merge));
        ck_assert(feed(&fixture, 0, frames_make(parts[i], 3 + i % 2, &fixture.charge)));
        ck_assert_int_eq(merge_has_rows(fixture.merge), i > 0);
        ck_assert_int_eq(run_part(&fixture, true), MERGE_FED);
        ck_assert_uint_eq(fixture.charge.count[CHARGE_MESSAGE], 0);
        ck_assert_uint_eq(fixture.charge.bytes[CHARGE_REGION], fixture.arena.capacity);
        ck_assert_uint_eq(fixture.watcher.rows, 0);
    }
    ck_assert_int_eq(run_part(&fixture, false), MERGE_DONE);
    ck_assert_uint_eq(fixture.watcher.rows, 1);
    close_merge(&fixture);
}
END_TEST

START_TEST(what_was_fed_can_be_given_up)
{
    struct fixture fixture;
    open_sum(&fixture);
    ck_assert(feed(&fixture, 0, frames_make(META "field:v:int | 1 1 1 5", 3, &fixture.charge)));
    ck_assert_uint_eq(fixture.charge.count[CHARGE_MESSAGE], 1);
    merge_forget(fixture.merge);
    ck_assert_uint_eq(fixture.charge.count[CHARGE_MESSAGE], 0);
    ck_assert_uint_eq(fixture.charge.bytes[CHARGE_REGION], fixture.arena.capacity);
    ck_assert_int_eq(run_part(&fixture, false), MERGE_DONE);
    ck_assert_uint_eq(fixture.watcher.rows, 0); /* no row, no group */
    close_merge(&fixture);
}
END_TEST

START_TEST(a_sink_that_stops)
{
    static const size_t stops[] = {1, 2, 4, SIZE_MAX};
    for (size_t i = 0; i < COUNT(stops); i++) {
        struct fixture fixture;
        open_merge(&fixture, SIZE_MAX);
        fixture.watcher.stop_at = stops[i];
        feed_all(&fixture, examples[1].frames);
        ck_assert_int_eq(run(&fixture, 3), MERGE_FAILED);
        ck_assert_int_eq(fixture.err.code, ERROR_ABORTED);
        ck_assert_uint_eq(fixture.charge.count[CHARGE_MESSAGE], 0);
        close_merge(&fixture);
    }
}
END_TEST

/* The second of two rows has a tag of one byte that promises more. */
static struct msg *malformed(struct fixture *fixture)
{
    struct frame_builder *builder = frame_builder_new(2);
    static const enum column_role roles[] = {COLUMN_TIMESTAMP, COLUMN_VERSION, COLUMN_SERIES};
    for (size_t i = 0; i < COUNT(roles); i++) {
        frame_builder_column(builder, roles[i], COLUMN_INT64, NULL, "");
        frame_builder_int(builder, 1);
        frame_builder_int(builder, 2);
    }
    frame_builder_column(builder, COLUMN_TAG, COLUMN_TAG_VALUE, "f", "t");
    frame_builder_bytes(builder, slice_of("\x12\x03\x0a\x01x", 5));
    frame_builder_bytes(builder, slice_of("\x12", 1));
    size_t len;
    uint8_t *bytes = frame_builder_encode(builder, 4, &len);
    struct msg *msg = msg_copy_of(slice_of(bytes, len), &fixture->charge);
    free(bytes);
    frame_builder_free(&builder);
    return msg;
}

#define MALFORMED "column \"t\" row 1: its tag_value cell is not a well-formed protobuf message"

START_TEST(a_malformed_cell)
{
    struct fixture fixture;
    open_merge(&fixture, SIZE_MAX);
    ck_assert(feed(&fixture, 0, frames_make(META "tag:f.t:str | 1 1 1 a", 4, &fixture.charge)));
    ck_assert(feed(&fixture, 1, malformed(&fixture)));
    ck_assert_int_eq(run(&fixture, 100), MERGE_FAILED);
    ck_assert_int_eq(fixture.err.code, ERROR_DATA_LOSS);
    ck_assert_str_eq(fixture.err.text, "merge rows: frame 1: " MALFORMED);
    ck_assert_uint_eq(fixture.watcher.rows, 1); /* the other row of the frame is a copy */
    close_merge(&fixture);
}
END_TEST

START_TEST(a_malformed_order_key)
{
    struct fixture fixture;
    open_merge(&fixture, SIZE_MAX);
    fixture.plan.order = PLAN_BY_TAG;
    fixture.plan.order_tag = (struct plan_tag){slice_str("f"), slice_str("t")};
    merge_close(&fixture.merge);
    fixture.merge = merge_open(&fixture.plan, DECODE_V4, &fixture.arena);
    ck_assert(!feed(&fixture, 0, malformed(&fixture)));
    ck_assert_int_eq(fixture.err.code, ERROR_DATA_LOSS);
    ck_assert_str_eq(fixture.err.text, MALFORMED);
    close_merge(&fixture);
}
END_TEST

START_TEST(a_frame_that_does_not_decode)
{
    struct fixture fixture;
    open_merge(&fixture, SIZE_MAX);
    ck_assert(feed(&fixture, 0, frames_make(META "| 1 1 1", 4, &fixture.charge)));
    ck_assert(!feed(&fixture, 1, msg_copy_of(slice_str("no frame"), &fixture.charge)));
    ck_assert_int_eq(fixture.err.code, ERROR_DATA_LOSS);
    close_merge(&fixture);
}
END_TEST

/* All rows have one time; series descend, so that copies have to be looked for. */
static struct msg *many_rows(struct fixture *fixture, size_t rows, unsigned version)
{
    struct frame_builder *builder = frame_builder_new(rows);
    static const enum column_role roles[] = {COLUMN_TIMESTAMP, COLUMN_VERSION, COLUMN_SERIES};
    for (size_t i = 0; i < COUNT(roles); i++) {
        frame_builder_column(builder, roles[i], COLUMN_INT64, NULL, "");
        for (size_t row = 0; row < rows; row++) {
            frame_builder_int(builder, roles[i] == COLUMN_SERIES ? (int64_t)(rows - row) : 1);
        }
    }
    frame_builder_column(builder, COLUMN_TAG, COLUMN_STRING, "f", "t");
    for (size_t row = 0; row < rows; row++) {
        frame_builder_text(builder, "x");
    }
    size_t len;
    uint8_t *bytes = frame_builder_encode(builder, version, &len);
    struct msg *msg = msg_copy_of(slice_of(bytes, len), &fixture->charge);
    free(bytes);
    frame_builder_free(&builder);
    return msg;
}

static void check_exhausted(const struct fixture *fixture)
{
    ck_assert_int_eq(fixture->err.code, ERROR_RESOURCE_EXHAUSTED);
    ck_assert_ptr_nonnull(strstr(fixture->err.text, "memory budget of 40000 bytes"));
}

START_TEST(a_window_over_the_budget)
{
    struct fixture fixture;
    open_merge(&fixture, 40000);
    ck_assert(feed(&fixture, 0, many_rows(&fixture, 10000, 4)));
    ck_assert_int_eq(run(&fixture, 100), MERGE_FAILED);
    check_exhausted(&fixture);
    ck_assert_uint_lt(fixture.charge.bytes[CHARGE_REGION], 2 * 65536); /* and not much over */
    ck_assert_uint_eq(fixture.charge.count[CHARGE_MESSAGE], 0);
    close_merge(&fixture);
}
END_TEST

START_TEST(tables_of_a_frame_over_the_budget)
{
    struct fixture fixture;
    open_merge(&fixture, 40000);
    ck_assert(!feed(&fixture, 0, many_rows(&fixture, 10000, 3)));
    check_exhausted(&fixture);
    close_merge(&fixture);
}
END_TEST

/* The loop of the caller turns while a window is gathered, too. */
START_TEST(a_large_window_in_steps)
{
    struct fixture fixture;
    size_t turns = 0;
    size_t given = 0;
    open_merge(&fixture, SIZE_MAX);
    ck_assert(feed(&fixture, 0, many_rows(&fixture, 20000, 4)));
    ck_assert(feed(&fixture, 1, many_rows(&fixture, 30000, 3)));
    while (merge_run(fixture.merge, &fixture.watcher.sink, 100, &fixture.err) == MERGE_MORE) {
        turns++;
        ck_assert(turns > 500 || fixture.watcher.rows == 0);
        ck_assert_uint_le(fixture.watcher.rows, given + 100);
        given = fixture.watcher.rows;
    }
    ck_assert_uint_le(turns, 810); /* some rows are looked at twice */
    ck_assert_uint_eq(fixture.watcher.rows, 30000);
    close_merge(&fixture);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge_pins");
    TCase *tcase = tcase_create("merge_pins");
    tcase_add_test(tcase, a_message_goes_with_its_last_row);
    tcase_add_test(tcase, old_rows_take_steps_too);
    tcase_add_test(tcase, the_charge_is_the_capacity_of_what_is_pinned);
    tcase_add_test(tcase, nothing_is_held_when_the_answer_is_full);
    tcase_add_test(tcase, nothing_is_held_after_close_at_any_step);
    tcase_add_test(tcase, what_is_folded_leaves_its_groups_alone);
    tcase_add_test(tcase, what_was_fed_can_be_given_up);
    tcase_add_test(tcase, a_sink_that_stops);
    tcase_add_test(tcase, a_malformed_cell);
    tcase_add_test(tcase, a_malformed_order_key);
    tcase_add_test(tcase, a_frame_that_does_not_decode);
    tcase_add_test(tcase, a_window_over_the_budget);
    tcase_add_test(tcase, tables_of_a_frame_over_the_budget);
    tcase_add_test(tcase, a_large_window_in_steps);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
