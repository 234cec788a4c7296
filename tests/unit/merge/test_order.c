// SPDX-License-Identifier: Apache-2.0
/* The order of a frame's rows: keys of every type, both directions, equal keys as they lie. */
#include "merge/order.h"
#include "tests/support/frame_builder.h"
#include "tests/support/frame_random.h"
#include "tests/unit/merge/opened.h"

#include <stdio.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Of frames with one column; the rows' numbers in merge order. */
static const struct {
    const char *frame;
    const char *ascending;
    const char *descending;
} examples[] = {
    {"field:k:int | 1 | 2 | 2 | 5", "as they lie", "3120"},
    {"field:k:int | 5 | 2 | 2 | -1", "3120", "as they lie"},
    {"field:k:int | 5 | -1 | 7 | -1 | 5", "13042", "20413"},
    {"field:k:int | 5 | - | 0 | - | -7", "13420", "02413"},
    {"field:k:int! | 5 | 5 | 5", "as they lie", "as they lie"},
    {"field:k:int! | - | - | -", "as they lie", "as they lie"},
    {"field:k:float | 0 | -0.0 | -1 | inf | -inf | nan", "420135", "530124"},
    {"field:k:float | -0.0 | 0 | -0.0", "as they lie", "as they lie"},
    {"tag:f.k:str | b | a | b | a", "1302", "0213"},
    {"tag:f.k:str | b | - | \"\" | - | a", "13240", "04213"},
    {"tag:f.k:str! | x | x", "as they lie", "as they lie"},
    {"tag:f.k:bytes | ab | a | abc", "102", "201"},
    {"tag:f.k:str | abcdefghij | abcdefgh | abcdefghi", "120", "021"},
    {"tag:f.k:tv | 5 | abc | null | void | -1 | -", "235140", "041235"},
    {"tag:f.k:tv | [a,b] | [a] | x:a | a | -", "41230", "01234"},
    {"tag:f.k:tv! | a | a | a", "as they lie", "as they lie"},
    {"field:k:int | 7", "as they lie", "as they lie"},
};

/* In shares of another size each time. */
static bool make(struct order *order, const struct view *view, bool descending, struct arena *arena,
                 struct error *err)
{
    static size_t share;
    enum progress progress;
    *order =
        (struct order){.column = view->columns, .count = view->row_count, .descending = descending};
    share = share % 97 + 1;
    do {
        size_t left = share;
        progress = order_some(order, arena, &left, err);
    } while (progress == PROGRESS_MORE);
    return progress == PROGRESS_DONE;
}

static void check(const struct order *order, const char *wanted, const char *frame)
{
    if (strcmp(wanted, "as they lie") == 0) {
        ck_assert_msg(order->rows == NULL, "%s", frame);
        return;
    }
    char rows[16] = "";
    for (size_t place = 0; place < order->count; place++) {
        rows[place] = (char)('0' + order_row(order, place));
    }
    ck_assert_msg(strcmp(rows, wanted) == 0, "%s: %s instead of %s", frame, rows, wanted);
}

START_TEST(rows_are_put_in_order)
{
    for (size_t i = 0; i < 4 * COUNT(examples); i++) {
        struct arena arena;
        struct view view;
        struct order order;
        bool descending = i % 2 != 0;
        const char *frame = examples[i / 4].frame;
        arena_init(&arena, SIZE_MAX, NULL, NULL);
        struct msg *msg = opened_view(frame, 3 + i / 2 % 2, &arena, &view);
        ck_assert(make(&order, &view, descending, &arena, NULL));
        check(&order, descending ? examples[i / 4].descending : examples[i / 4].ascending, frame);
        msg_release(&msg);
        arena_fini(&arena);
    }
}
END_TEST

START_TEST(without_a_column_all_keys_are_null)
{
    struct order order = {.count = 10, .descending = true};
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    ck_assert(order_make(&order, &arena, NULL));
    struct key key;
    order_key(&order, 3, &key);
    ck_assert(!key.present);
    ck_assert_uint_eq(order_run(&order, 2, SIZE_MAX), 8);
    ck_assert_uint_eq(order_row(&order, 2), 2);
    arena_fini(&arena);
}
END_TEST

START_TEST(runs)
{
    static const struct {
        const char *frame;
        const char *runs; /* from each place on */
    } table[] = {
        {"field:k:int | 1 | 1 | 1 | 2 | 3 | 3", "321121"},
        {"field:k:int | 3 | 1 | 2 | 1 | 3 | 1", "321121"},
        {"field:k:int | - | - | 0 | 5 | 6 | 6", "211121"},
        {"tag:f.k:str | - | - | \"\" | a | a | b", "211211"},
        {"tag:f.k:tv | - | null | void | a | a | b", "321211"},
        {"tag:f.k:str! | a | a | a | a | a | a", "654321"},
        {"tag:f.k:tv! | - | - | - | - | - | -", "654321"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct arena arena;
        struct view view;
        struct order order;
        arena_init(&arena, SIZE_MAX, NULL, NULL);
        struct msg *msg = opened_view(table[i].frame, 4, &arena, &view);
        ck_assert(make(&order, &view, false, &arena, NULL));
        for (size_t place = 0; place < 6; place++) {
            size_t run = (size_t)(table[i].runs[place] - '0');
            ck_assert_msg(order_run(&order, place, SIZE_MAX) == run, "%s", table[i].frame);
            ck_assert_uint_eq(order_run(&order, place, 1), 1);
            ck_assert_uint_eq(order_run(&order, place, 2), run < 2 ? run : 2);
        }
        msg_release(&msg);
        arena_fini(&arena);
    }
}
END_TEST

START_TEST(a_malformed_cell_is_named)
{
    for (size_t constant = 0; constant < 2; constant++) {
        struct frame_builder *builder = frame_builder_new(2);
        frame_builder_column(builder, COLUMN_TAG, COLUMN_TAG_VALUE, "f", "k");
        if (constant == 1) {
            frame_builder_constant(builder);
        } else {
            frame_builder_null(builder);
        }
        frame_builder_bytes(builder, slice_of("\x12\x05", 2));
        size_t len;
        uint8_t *bytes = frame_builder_encode(builder, 4, &len);
        struct arena arena;
        struct view view;
        struct order order;
        struct error err = {0};
        arena_init(&arena, SIZE_MAX, NULL, NULL);
        struct room room = arena_room(&arena);
        ck_assert(decode_view(slice_of(bytes, len), DECODE_V4, &room, &view, &err));
        ck_assert(!make(&order, &view, false, &arena, &err));
        ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
        ck_assert_ptr_nonnull(strstr(err.text, constant == 1 ? "\"k\" row 0" : "\"k\" row 1"));
        arena_fini(&arena);
        free(bytes);
        frame_builder_free(&builder);
    }
}
END_TEST

/* Rows whose numbers are `values`, or strings of them with nulls in between. */
static struct frame_builder *random_frame(uint64_t *state, size_t rows, size_t below, bool text)
{
    struct frame_builder *builder = frame_builder_new(rows);
    frame_builder_column(builder, COLUMN_TAG, text ? COLUMN_STRING : COLUMN_INT64, "f", "k");
    for (size_t row = 0; row < rows; row++) {
        size_t value = random_below(state, below);
        char digits[32];
        snprintf(digits, sizeof digits, "%zu", value);
        if (text && value % 7 == 0) {
            frame_builder_null(builder);
        } else if (text) {
            frame_builder_text(builder, digits);
        } else {
            frame_builder_int(builder, (int64_t)value - (int64_t)below / 2);
        }
    }
    return builder;
}

/* Each row once; keys in order; of equal keys the lower row first. */
static void check_sorted(const struct order *order, bool descending)
{
    static bool taken[5000];
    memset(taken, 0, sizeof taken);
    for (size_t place = 0; place < order->count; place++) {
        size_t row = order_row(order, place);
        ck_assert(row < order->count && !taken[row]);
        taken[row] = true;
        if (place > 0) {
            size_t last = order_row(order, place - 1);
            struct key key;
            struct key before;
            order_key(order, row, &key);
            order_key(order, last, &before);
            int sign = descending ? key_compare(&key, &before) : key_compare(&before, &key);
            ck_assert(sign < 0 || (sign == 0 && last < row));
        }
    }
}

START_TEST(any_rows_are_sorted_and_stable)
{
    uint64_t state = 77;
    for (size_t round = 0; round < 400; round++) {
        size_t rows = 1 + random_below(&state, round % 40 == 0 ? 5000 : 70);
        size_t below = 1 + random_below(&state, 2 * rows);
        struct frame_builder *builder = random_frame(&state, rows, below, round % 2 == 0);
        size_t len;
        uint8_t *bytes = frame_builder_encode(builder, 4, &len);
        struct arena arena;
        struct view view;
        struct order order;
        arena_init(&arena, SIZE_MAX, NULL, NULL);
        struct room room = arena_room(&arena);
        ck_assert(decode_view(slice_of(bytes, len), DECODE_V4, &room, &view, NULL));
        ck_assert(make(&order, &view, round % 3 == 0, &arena, NULL));
        check_sorted(&order, round % 3 == 0);
        arena_fini(&arena);
        free(bytes);
        frame_builder_free(&builder);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("order");
    TCase *tcase = tcase_create("order");
    tcase_add_test(tcase, rows_are_put_in_order);
    tcase_add_test(tcase, without_a_column_all_keys_are_null);
    tcase_add_test(tcase, runs);
    tcase_add_test(tcase, a_malformed_cell_is_named);
    tcase_add_test(tcase, any_rows_are_sorted_and_stable);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
