// SPDX-License-Identifier: Apache-2.0
/* A look whether the rows are sorted, and a merge sort for those that are not. */
#include "merge/order.h"

#include <assert.h>

void order_key_of_cell(const struct order *order, size_t row, struct key *key)
{
    struct cell cell = {.kind = CELL_NULL};
    if (order->keys != NULL) {
        *key = order->keys[row & order->column->mask];
        return;
    }
    bool read = order->column == NULL || cell_read(order->column, row, &cell, NULL);
    assert(read); /* messages, which alone can be malformed, have keys */
    *key = key_of_cell(&cell, NULL);
}

static bool is_one_key(const struct order *order)
{
    return order->column == NULL || order->column->constant;
}

/* <0, 0, >0 as row a comes before, with or after row b when ascending. */
static int compare_rows(const struct order *order, size_t a, size_t b)
{
    if (order->by_number) {
        int64_t number_a = column_int(order->column, a);
        int64_t number_b = column_int(order->column, b);
        return (number_a > number_b) - (number_a < number_b);
    }
    struct key key_a;
    struct key key_b;
    order_key(order, a, &key_a);
    order_key(order, b, &key_b);
    return key_compare(&key_a, &key_b);
}

/* Row b must not stand behind row a. */
static bool is_wrong(const struct order *order, size_t a, size_t b)
{
    int sign = compare_rows(order, a, b);
    return order->descending ? sign < 0 : sign > 0;
}

static bool are_numbers_sorted(const struct order *order)
{
    const struct column *column = order->column;
    bool wrong = false;
    for (size_t row = 1; row < order->count && !wrong; row++) {
        int64_t before = column_int(column, row - 1);
        int64_t number = column_int(column, row);
        wrong = order->descending ? before < number : before > number;
    }
    return !wrong;
}

static bool is_sorted(const struct order *order)
{
    struct key keys[2]; /* of the row and the one before, by turns */
    if (order->by_number) {
        return are_numbers_sorted(order);
    }
    order_key(order, 0, &keys[0]);
    for (size_t row = 1; row < order->count; row++) {
        order_key(order, row, &keys[row % 2]);
        int sign = key_compare(&keys[(row - 1) % 2], &keys[row % 2]);
        if (order->descending ? sign < 0 : sign > 0) {
            return false;
        }
    }
    return true;
}

struct sort {
    const struct order *order;
    const uint32_t *from;
    uint32_t *to;
};

/* Merges the two runs [begin, middle) and [middle, end). */
static void merge_runs(const struct sort *sort, size_t begin, size_t middle, size_t end)
{
    const uint32_t *from = sort->from;
    size_t left = begin;
    size_t right = middle;
    bool apart = middle == end || !is_wrong(sort->order, from[middle - 1], from[middle]);
    for (size_t at = begin; at < end; at++) {
        bool take_left = left < middle &&
                         (apart || right == end || !is_wrong(sort->order, from[left], from[right]));
        sort->to[at] = take_left ? from[left++] : from[right++];
    }
}

/* Bottom up: runs of 1, 2, 4 … rows from one array to the other and back. */
static void sort_rows(struct order *order, struct arena *arena)
{
    const size_t count = order->count;
    uint32_t *rows = arena_array_raw(arena, uint32_t, count);
    const struct arena_mark mark = arena_mark(arena);
    uint32_t *other = arena_array_raw(arena, uint32_t, count);
    for (size_t row = 0; row < count; row++) {
        rows[row] = (uint32_t)row;
    }
    struct sort sort = {.order = order, .from = rows, .to = other};
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * width) {
            size_t middle = begin + width < count ? begin + width : count;
            size_t end = begin + 2 * width < count ? begin + 2 * width : count;
            merge_runs(&sort, begin, middle, end);
        }
        uint32_t *sorted = sort.to;
        sort.to = sorted == rows ? other : rows;
        sort.from = sorted;
    }
    if (sort.from != rows) {
        memcpy(rows, other, count * sizeof *rows);
    }
    arena_rewind(arena, mark);
    order->rows = rows;
}

static bool make_keys(struct order *order, struct arena *arena, struct error *err)
{
    size_t count = order->column->constant ? 1 : order->count;
    order->keys = arena_array_raw(arena, struct key, count);
    for (size_t row = 0; row < count; row++) {
        struct cell cell;
        if (!cell_read(order->column, row, &cell, err)) {
            return false;
        }
        order->keys[row] = key_of_cell(&cell, arena);
    }
    return true;
}

bool order_make(struct order *order, struct arena *arena, struct error *err)
{
    const struct column *column = order->column;
    assert(order->count <= UINT32_MAX);
    if (is_one_key(order)) {
        return column == NULL || column_is_number(column) || make_keys(order, arena, err);
    }
    order->by_number = column->type == COLUMN_INT64 && column->null_count == 0;
    if (column->type == COLUMN_TAG_VALUE && !make_keys(order, arena, err)) {
        return false;
    }
    if (!is_sorted(order)) {
        sort_rows(order, arena);
    }
    return true;
}

static size_t run_of_numbers(const struct order *order, size_t place, size_t most)
{
    const uint64_t number = column_bits(order->column, order_row(order, place));
    size_t run = 1;
    while (run < most && column_bits(order->column, order_row(order, place + run)) == number) {
        run++;
    }
    return run;
}

size_t order_run(const struct order *order, size_t place, size_t most)
{
    if (most > order->count - place) {
        most = order->count - place;
    }
    if (is_one_key(order)) {
        return most;
    }
    if (order->by_number) {
        return run_of_numbers(order, place, most);
    }
    struct key key;
    struct key next;
    order_key(order, order_row(order, place), &key);
    for (size_t run = 1; run < most; run++) {
        order_key(order, order_row(order, place + run), &next);
        if (key_compare(&key, &next) != 0) {
            return run;
        }
    }
    return most;
}
