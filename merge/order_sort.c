// SPDX-License-Identifier: Apache-2.0
/* Bottom up: runs of 1, 2, 4 … rows are merged from one array to the other and back. */
#include "merge/order_sort.h"

#include <assert.h>

#define NUMBERS_A_STEP 4

struct order_sort {
    const struct order *order; /* borrow: outlives it */
    struct arena_mark mark;    /* what is behind it is given up in the end */
    uint32_t *from;
    uint32_t *to;
    uint32_t *rows;  /* the one of the two that stays, `from` in the end */
    size_t numbered; /* rows that have been put into `from` */
    size_t width;    /* of the runs that are merged */
    size_t begin;    /* of the pair of runs */
    size_t left;     /* the first rows of both that have not been taken */
    size_t right;
};

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

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void begin_pair(struct order_sort *sort, size_t begin)
{
    sort->begin = begin;
    sort->left = begin;
    sort->right = least(begin + sort->width, sort->order->count);
}

/* After an odd number of passes rows are in the array that they were not in at first. */
static bool passes_are_odd(size_t count)
{
    bool odd = false;
    for (size_t width = 1; width < count; width *= 2) {
        odd = !odd;
    }
    return odd;
}

struct order_sort *order_sort_begin(const struct order *order, struct arena *arena)
{
    uint32_t *rows = arena_array_raw(arena, uint32_t, order->count);
    const struct arena_mark mark = arena_mark(arena);
    struct order_sort *sort = arena_new(arena, struct order_sort);
    uint32_t *other = arena_array_raw(arena, uint32_t, order->count);
    const bool odd = passes_are_odd(order->count);
    *sort = (struct order_sort){.order = order,
                                .mark = mark,
                                .from = odd ? other : rows,
                                .to = odd ? rows : other,
                                .rows = rows,
                                .width = 1};
    begin_pair(sort, 0);
    return sort;
}

static void number_rows(struct order_sort *sort, size_t *left)
{
    const size_t rest = sort->order->count - sort->numbered;
    const size_t end = sort->numbered + progress_share(rest, NUMBERS_A_STEP, left);
    for (; sort->numbered < end; sort->numbered++) {
        sort->from[sort->numbered] = (uint32_t)sort->numbered;
    }
}

/* Merges two neighbouring runs, as far as the allowance reaches; true: to their end. */
static bool merge_pair(struct order_sort *sort, size_t *allowance)
{
    const struct order *order = sort->order;
    const uint32_t *from = sort->from;
    const size_t middle = least(sort->begin + sort->width, order->count);
    const size_t end = least(middle + sort->width, order->count);
    const bool apart = middle == end || !is_wrong(order, from[middle - 1], from[middle]);
    size_t left = sort->left;
    size_t right = sort->right;
    size_t at = left + right - middle;
    const size_t stop = at + progress_share(end - at, 1, allowance);
    for (; at < stop; at++) {
        bool take_left =
            left < middle && (apart || right == end || !is_wrong(order, from[left], from[right]));
        sort->to[at] = take_left ? from[left++] : from[right++];
    }
    sort->left = left;
    sort->right = right;
    return at == end;
}

/* All runs of this width are merged: what was written is read next. */
static void next_width(struct order_sort *sort)
{
    uint32_t *sorted = sort->to;
    sort->to = sort->from;
    sort->from = sorted;
    sort->width *= 2;
    begin_pair(sort, 0);
}

bool order_sort_some(struct order_sort *sort, size_t *left)
{
    const size_t count = sort->order->count;
    if (sort->numbered < count) {
        number_rows(sort, left);
    }
    while (*left > 0 && sort->numbered == count && sort->width < count) {
        if (!merge_pair(sort, left)) {
            continue;
        }
        if (sort->begin + 2 * sort->width < count) {
            begin_pair(sort, sort->begin + 2 * sort->width);
        } else {
            next_width(sort);
        }
    }
    return sort->numbered == count && sort->width >= count;
}

uint32_t *order_sort_end(struct order_sort *sort, struct arena *arena)
{
    uint32_t *rows = sort->rows;
    assert(sort->from == rows);
    arena_rewind(arena, sort->mark);
    return rows;
}
