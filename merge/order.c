// SPDX-License-Identifier: Apache-2.0
/* A look whether the rows are sorted, and a merge sort for those that are not; both in shares. */
#include "merge/order.h"

#include "merge/order_sort.h"

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

/* Of the rows from `row` on, up to `end`: the first that comes before the one before it. */
static size_t first_wrong_number(const struct order *order, size_t row, size_t end)
{
    const struct column *column = order->column;
    for (; row < end; row++) {
        int64_t before = column_int(column, row - 1);
        int64_t number = column_int(column, row);
        if (order->descending ? before < number : before > number) {
            break;
        }
    }
    return row;
}

static size_t first_wrong_key(const struct order *order, size_t row, size_t end)
{
    struct key keys[2]; /* of the row and the one before, by turns */
    if (row < end) {
        order_key(order, row - 1, &keys[(row - 1) % 2]);
    }
    for (; row < end; row++) {
        order_key(order, row, &keys[row % 2]);
        int sign = key_compare(&keys[(row - 1) % 2], &keys[row % 2]);
        if (order->descending ? sign < 0 : sign > 0) {
            break;
        }
    }
    return row;
}

static void go_to(struct order *order, enum order_step step)
{
    order->step = step;
    order->made = 0;
}

/* A row's key of a message costs more than one step. */
#define KEY_STEPS 4

static bool make_keys(struct order *order, struct arena *arena, size_t *left, struct error *err)
{
    const size_t count = order->column->constant ? 1 : order->count;
    if (order->keys == NULL) {
        order->keys = arena_array_raw(arena, struct key, count);
    }
    const size_t most = 1 + *left / KEY_STEPS;
    const size_t end = count - order->made < most ? count : order->made + most;
    progress_spend(left, (end - order->made) * KEY_STEPS);
    for (size_t row = order->made; row < end; row++) {
        struct cell cell;
        if (!cell_read(order->column, row, &cell, err)) {
            return false;
        }
        order->keys[row] = key_of_cell(&cell, arena);
    }
    order->made = end;
    if (end == count) {
        go_to(order, is_one_key(order) ? ORDER_MADE : ORDER_LOOK);
    }
    return true;
}

/* Nodes usually send rows in the order asked for. */
static void look(struct order *order, struct arena *arena, size_t *left)
{
    const size_t end = order->made + progress_share(order->count - order->made, 1, left);
    const size_t row = order->made > 0 ? order->made : 1;
    order->made =
        order->by_number ? first_wrong_number(order, row, end) : first_wrong_key(order, row, end);
    if (order->made < end) {
        order->sort = order_sort_begin(order, arena);
        go_to(order, ORDER_SORT);
    } else if (end == order->count) {
        go_to(order, ORDER_MADE);
    }
}

static void sort_some(struct order *order, struct arena *arena, size_t *left)
{
    if (order_sort_some(order->sort, left)) {
        order->rows = order_sort_end(order->sort, arena);
        order->sort = NULL;
        go_to(order, ORDER_MADE);
    }
}

static void begin(struct order *order)
{
    const struct column *column = order->column;
    assert(order->count <= UINT32_MAX);
    if (is_one_key(order)) {
        const bool read = column == NULL || column_is_number(column);
        go_to(order, read ? ORDER_MADE : ORDER_KEYS);
        return;
    }
    order->by_number = column->type == COLUMN_INT64 && column->null_count == 0;
    go_to(order, column->type == COLUMN_TAG_VALUE ? ORDER_KEYS : ORDER_LOOK);
}

static bool step(struct order *order, struct arena *arena, size_t *left, struct error *err)
{
    switch (order->step) {
    case ORDER_BEGIN:
        begin(order);
        break;
    case ORDER_KEYS:
        return make_keys(order, arena, left, err);
    case ORDER_LOOK:
        look(order, arena, left);
        break;
    case ORDER_SORT:
        sort_some(order, arena, left);
        break;
    case ORDER_MADE:
        break;
    }
    return true;
}

enum progress order_some(struct order *order, struct arena *arena, size_t *left, struct error *err)
{
    while (order->step != ORDER_MADE && *left > 0) {
        if (!step(order, arena, left, err)) {
            return PROGRESS_FAILED;
        }
    }
    return order->step == ORDER_MADE ? PROGRESS_DONE : PROGRESS_MORE;
}

bool order_make(struct order *order, struct arena *arena, struct error *err)
{
    size_t all = PROGRESS_ALL;
    return order_some(order, arena, &all, err) == PROGRESS_DONE;
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
