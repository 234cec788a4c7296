// SPDX-License-Identifier: Apache-2.0
/*
 * Few rows of a large frame do not hold it, a constant that they share neither; and what is charged
 * for a growing region is what the allocator has given out, not what is used of it.
 */
#include "frame/chain.h"
#include "frame/decode.h"
#include "merge/excerpt.h"
#include "merge/merge.h"
#include "tests/support/frame_builder.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS    3000
#define SOURCES 3
#define TEXT    "a text that is long enough to make a frame of this many rows large: "

/* What a generated frame is like. */
struct kind {
    unsigned seed;
    unsigned times;  /* different ones */
    unsigned series; /* different ones */
    bool sorted;
};

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void add_numbers(struct frame_builder *builder, enum column_role role, unsigned *state,
                        unsigned different)
{
    frame_builder_column(builder, role, COLUMN_INT64, NULL, "");
    for (size_t row = 0; row < ROWS; row++) {
        frame_builder_int(builder, (int64_t)(next_random(state) % different));
    }
}

static void add_times(struct frame_builder *builder, const struct kind *kind, unsigned *state)
{
    if (!kind->sorted) {
        add_numbers(builder, COLUMN_TIMESTAMP, state, kind->times);
        return;
    }
    frame_builder_column(builder, COLUMN_TIMESTAMP, COLUMN_INT64, NULL, "");
    for (size_t row = 0; row < ROWS; row++) {
        frame_builder_int(builder, (int64_t)(row * kind->times / ROWS));
    }
}

static void add_texts(struct frame_builder *builder, unsigned *state)
{
    char text[128];
    frame_builder_column(builder, COLUMN_TAG, COLUMN_STRING, "f", "t");
    for (size_t row = 0; row < ROWS; row++) {
        unsigned number = next_random(state) % 50;
        (void)snprintf(text, sizeof text, "%s%u", TEXT, number);
        if (number == 0) {
            frame_builder_null(builder);
        } else {
            frame_builder_text(builder, text);
        }
    }
}

static struct msg *make(const struct kind *kind, unsigned version, struct charge *charge)
{
    unsigned state = kind->seed;
    struct frame_builder *builder = frame_builder_new(ROWS);
    add_times(builder, kind, &state);
    add_numbers(builder, COLUMN_VERSION, &state, 3);
    add_numbers(builder, COLUMN_SERIES, &state, kind->series);
    add_texts(builder, &state);
    frame_builder_column(builder, COLUMN_TAG, COLUMN_STRING, "f", "c");
    frame_builder_constant(builder);
    frame_builder_text(builder, "the same everywhere");
    frame_builder_column(builder, COLUMN_FIELD, COLUMN_INT64, NULL, "v");
    frame_builder_constant(builder);
    frame_builder_int(builder, 1);
    size_t len;
    uint8_t *bytes = frame_builder_encode(builder, version, &len);
    struct msg *msg = msg_copy_of(slice_of(bytes, len), charge);
    free(bytes);
    frame_builder_free(&builder);
    return msg;
}

/* Rows of an answer as lines of text. */
struct lines {
    struct sink sink;
    char *text; /* own */
    size_t len;
    FILE *out;
};

static bool lines_begin(struct sink *sink, const struct layout *layout, struct error *err)
{
    (void)sink;
    (void)layout;
    (void)err;
    return true;
}

static bool lines_row(struct sink *sink, const struct row *row, struct error *err)
{
    (void)err;
    struct lines *lines = (struct lines *)sink;
    (void)fprintf(lines->out, "%lld %lld %llu", (long long)row->timestamp, (long long)row->version,
                  (unsigned long long)row->series);
    for (size_t i = 0; i < 2; i++) {
        const struct cell *cell = &row->cells[i];
        (void)fprintf(lines->out, " %.*s", cell->kind == CELL_NULL ? 0 : (int)cell->bytes.len,
                      (const char *)cell->bytes.ptr);
    }
    (void)fputc('\n', lines->out);
    return true;
}

struct fixture {
    struct charge charge;
    struct arena arena;
    struct plan plan;
    struct merge *merge;
    struct lines lines;
};

static void open_merge(struct fixture *fixture, const struct plan *plan)
{
    *fixture = (struct fixture){.plan = *plan};
    fixture->lines.sink = (struct sink){lines_begin, lines_row};
    fixture->lines.out = open_memstream(&fixture->lines.text, &fixture->lines.len);
    arena_init(&fixture->arena, SIZE_MAX, NULL, &fixture->charge);
    fixture->merge = merge_open(&fixture->plan, DECODE_V3 | DECODE_V4, &fixture->arena);
}

static void feed(struct fixture *fixture, size_t rank, const struct kind *kind)
{
    struct error err;
    struct msg *msg = make(kind, 3 + rank % 2, &fixture->charge);
    ck_assert(merge_feed(fixture->merge, 0, rank, msg, msg_bytes(msg), &err));
    msg_release(&msg);
}

static char *close_merge(struct fixture *fixture)
{
    struct error err;
    while (merge_run(fixture->merge, &fixture->lines.sink, 7, &err) == MERGE_MORE) {
    }
    merge_close(&fixture->merge);
    arena_fini(&fixture->arena);
    ck_assert_uint_eq(fixture->charge.total, 0);
    ck_assert_int_eq(fclose(fixture->lines.out), 0);
    return fixture->lines.text;
}

static char *answer(const struct plan *plan, const struct kind *kind, size_t *held_out)
{
    struct fixture fixture;
    open_merge(&fixture, plan);
    for (size_t rank = 0; rank < SOURCES; rank++) {
        struct kind other = *kind;
        other.seed += (unsigned)rank / 2; /* the first two are replicas of each other */
        feed(&fixture, rank, &other);
    }
    *held_out = fixture.charge.count[CHARGE_MESSAGE];
    return close_merge(&fixture);
}

/* From line `offset` on, `limit` lines. */
static char *cut_lines(char *text, size_t offset, size_t limit)
{
    for (size_t i = 0; i < offset && *text != '\0'; i++) {
        text = strchr(text, '\n') + 1;
    }
    char *end = text;
    for (size_t i = 0; i < limit && *end != '\0'; i++) {
        end = strchr(end, '\n') + 1;
    }
    *end = '\0';
    return text;
}

static const struct kind kinds[] = {
    {1, 1000, 40, true}, {2, 1000, 40, false}, {3, 100, 3, true}, {4, 100, 3, false},
    {5, 40, 1000, true}, {6, 3000, 1, false},  {7, 1, 100, true},
};

static void check_limit(const struct kind *kind, bool by_tag, bool descending)
{
    const struct plan all = {
        .group_count = 1,
        .limit = UINT64_MAX,
        .order = by_tag ? PLAN_BY_TAG : PLAN_BY_TIME,
        .order_tag = {slice_str("f"), slice_str("t")},
        .descending = descending,
    };
    static const struct {
        uint64_t offset;
        uint64_t limit;
    } cuts[] = {{0, 1}, {0, 10}, {25, 30}, {0, 100}, {300, 50}};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct plan plan = all;
        plan.offset = cuts[i].offset;
        plan.limit = cuts[i].limit;
        size_t held;
        char *whole = answer(&all, kind, &held);
        ck_assert_uint_eq(held, SOURCES);
        char *part = answer(&plan, kind, &held);
        ck_assert_str_eq(part, cut_lines(whole, cuts[i].offset, cuts[i].limit));
        free(part);
        free(whole);
    }
}

START_TEST(an_excerpt_gives_the_same_answer)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int way = 0; way < 4; way++) {
            check_limit(&kinds[i], way / 2 == 1, way % 2 == 1);
        }
    }
}
END_TEST

/* The first fault: a few rows, and the constant that they share, hold megabytes. */
START_TEST(few_rows_and_a_constant_hold_no_message)
{
    const struct kind kind = {1, 1000, 40, true};
    struct plan plan = {.group_count = 1, .limit = 5};
    struct fixture fixture;
    open_merge(&fixture, &plan);
    feed(&fixture, 0, &kind);
    ck_assert_uint_eq(fixture.charge.count[CHARGE_MESSAGE], 0);
    ck_assert_uint_lt(fixture.charge.bytes[CHARGE_REGION], 64 << 10);
    char *text = close_merge(&fixture);
    ck_assert_ptr_nonnull(strstr(text, "the same everywhere"));
    free(text);

    plan.limit = ROWS; /* what is held without an excerpt */
    open_merge(&fixture, &plan);
    feed(&fixture, 0, &kind);
    ck_assert_uint_eq(fixture.charge.count[CHARGE_MESSAGE], 1);
    ck_assert_uint_gt(fixture.charge.bytes[CHARGE_MESSAGE], 256 << 10);
    free(close_merge(&fixture));
}
END_TEST

/* The last rows of a source come long after the rest. */
START_TEST(lone_survivors_hold_no_message)
{
    const struct kind kind = {1, 1000, 40, true};
    const struct kind late = {2, 1400, 40, true};
    const struct plan plan = {.group_count = 1, .limit = UINT64_MAX};
    struct fixture fixture;
    struct error err;
    open_merge(&fixture, &plan);
    feed(&fixture, 0, &kind);
    feed(&fixture, 1, &late);
    size_t turns_without = 0;
    while (merge_run(fixture.merge, &fixture.lines.sink, 10, &err) == MERGE_MORE) {
        if (fixture.charge.count[CHARGE_MESSAGE] == 0) {
            turns_without++;
        }
    }
    ck_assert_uint_ge(turns_without, 1); /* turns without any message, but rows to come */
    free(close_merge(&fixture));
}
END_TEST

static char *groups(const struct kind *kind, const struct kind *late, size_t step)
{
    const struct plan_tag keys[] = {{slice_str("f"), slice_str("t")},
                                    {slice_str("f"), slice_str("c")}};
    const struct plan plan = {
        .group_count = 1,
        .limit = UINT64_MAX,
        .mode = PLAN_FOLD,
        .key_count = 2,
        .keys = keys,
        .agg = {.function = PLAN_COUNT, .type = PLAN_INT, .field = slice_str("v")},
    };
    struct fixture fixture;
    struct error err;
    open_merge(&fixture, &plan);
    feed(&fixture, 0, kind);
    feed(&fixture, 1, late);
    while (merge_run(fixture.merge, &fixture.lines.sink, step, &err) == MERGE_MORE) {
    }
    return close_merge(&fixture);
}

/* Rows wait on their way into groups when the message that they lie in is given up. */
START_TEST(rows_on_their_way_into_groups_are_not_lost)
{
    const struct kind kind = {1, 1000, 40, true};
    const struct kind late = {2, 1400, 40, true};
    char *whole = groups(&kind, &late, SIZE_MAX);
    for (size_t step = 7; step < 20; step++) {
        char *part = groups(&kind, &late, step);
        ck_assert_str_eq(part, whole);
        free(part);
    }
    free(whole);
}
END_TEST

static size_t held(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* The second fault: what a region or a response has grown by, and not used yet, is held as well. */
START_TEST(spare_capacity_is_charged)
{
    struct charge charge = {0};
    struct arena arena;
    struct chain chain;
    const size_t before = held();
    size_t used = 0;
    arena_init(&arena, SIZE_MAX, NULL, &charge);
    chain_init(&chain, &charge);
    while (arena.capacity < 3 << 20) {
        arena_copy(&arena, slice_of(TEXT, sizeof TEXT));
        chain_append(&chain, slice_of(TEXT, sizeof TEXT));
        used += 2 * sizeof TEXT;
    }
#if !ASAN /* whose allocator tells no figures */
    const double taken = (double)(held() - before);
    ck_assert(taken <= 1.05 * (double)charge.total);
    ck_assert(taken > 1.05 * (double)used); /* charging what is used would not do */
#endif
    ck_assert_uint_gt(charge.total, used);
    (void)before;
    chain_fini(&chain);
    arena_fini(&arena);
}
END_TEST

/* Rows of the frame in an order of its own, from some place on. */
static void same_cells(const struct excerpt *excerpt, const struct view *copy)
{
    ck_assert_uint_eq(copy->row_count, excerpt->count);
    for (size_t i = 0; i < copy->column_count * excerpt->count; i++) {
        const struct column *from = &excerpt->view->columns[i / excerpt->count];
        const struct column *to = &copy->columns[i / excerpt->count];
        const size_t place = i % excerpt->count;
        const size_t row = order_row(excerpt->order, excerpt->first + place);
        ck_assert_int_eq(column_is_null(from, row), column_is_null(to, place));
        if (column_is_number(from)) {
            ck_assert_uint_eq(column_bits(from, row), column_bits(to, place));
        } else {
            ck_assert(slice_equal(column_bytes(from, row), column_bytes(to, place)));
        }
    }
}

/* A call does no more than it is allowed to, whatever it is at. */
static void copy_in_shares(const struct excerpt *excerpt, struct arena *arena, uint64_t *seed)
{
    struct excerpt_copy copy;
    excerpt_begin(&copy, excerpt, arena);
    for (bool whole = false; !whole;) {
        const struct excerpt_copy before = copy;
        const size_t allowed = 1 + random_below(seed, 30);
        size_t left = allowed;
        whole = excerpt_some(&copy, arena, &left);
        ck_assert_uint_le(copy.column - before.column, allowed);
        const bool same = copy.column == before.column && copy.part == before.part;
        ck_assert_uint_le(copy.done - (same ? before.done : 0), allowed);
    }
    same_cells(excerpt, &copy.view);
}

START_TEST(copies_are_made_in_shares)
{
    uint64_t seed = 17;
    for (size_t round = 0; round < 300; round++) {
        struct arena arena;
        struct view view;
        size_t len;
        arena_init(&arena, SIZE_MAX, NULL, NULL);
        struct frame_builder *builder = frame_random(&seed, 500);
        uint8_t *bytes = frame_builder_encode(builder, 3 + round % 2, &len);
        struct msg *msg = msg_copy_of(slice_of(bytes, len), NULL);
        const struct room room = arena_room(&arena);
        ck_assert(decode_view(msg_bytes(msg), DECODE_V3 | DECODE_V4, &room, &view, NULL));
        struct order order = {.count = view.row_count};
        order.rows = arena_array(&arena, uint32_t, order.count);
        for (size_t row = 0; row < order.count; row++) { /* 7919 is prime */
            order.rows[row] = (uint32_t)(row * 7919 % order.count);
        }
        const size_t first = random_below(&seed, order.count + 1);
        const struct excerpt excerpt = {&view, &order, first,
                                        random_below(&seed, order.count - first + 1)};
        if (excerpt.count > 0) {
            copy_in_shares(&excerpt, &arena, &seed);
        }
        msg_release(&msg);
        free(bytes);
        frame_builder_free(&builder);
        arena_fini(&arena);
    }
}
END_TEST

/* As often as a whole count would, and it says the same. */
START_TEST(records_are_counted_in_shares)
{
    uint64_t seed = 5;
    for (unsigned round = 0; round < 60; round++) {
        struct arena arena;
        struct view view;
        arena_init(&arena, SIZE_MAX, NULL, NULL);
        const struct kind kind = {.seed = round, .times = 1 + round, .series = 9, .sorted = true};
        struct msg *msg = make(&kind, 3 + round % 2, NULL);
        const struct room room = arena_room(&arena);
        ck_assert(decode_view(msg_bytes(msg), DECODE_V3 | DECODE_V4, &room, &view, NULL));
        struct order order = {.column = view_role(&view, COLUMN_TIMESTAMP), .count = ROWS};
        ck_assert(order_make(&order, &arena, NULL));
        const size_t wanted = random_below(&seed, ROWS);
        struct excerpt_count whole = excerpt_count(&view, &order, wanted, ROWS / 2);
        struct excerpt_count shares = whole;
        size_t all = PROGRESS_ALL;
        ck_assert(excerpt_count_some(&whole, &all));
        for (bool done = false; !done;) {
            const size_t before = shares.place;
            size_t left = 10;
            done = excerpt_count_some(&shares, &left);
            ck_assert_uint_le(shares.place - before, 10);
        }
        ck_assert_uint_eq(whole.place, shares.place);
        msg_release(&msg);
        arena_fini(&arena);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("excerpt");
    TCase *tcase = tcase_create("excerpt");
    tcase_add_test(tcase, an_excerpt_gives_the_same_answer);
    tcase_add_test(tcase, copies_are_made_in_shares);
    tcase_add_test(tcase, records_are_counted_in_shares);
    tcase_add_test(tcase, few_rows_and_a_constant_hold_no_message);
    tcase_add_test(tcase, lone_survivors_hold_no_message);
    tcase_add_test(tcase, rows_on_their_way_into_groups_are_not_lost);
    tcase_add_test(tcase, spare_capacity_is_charged);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
