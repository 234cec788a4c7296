// SPDX-License-Identifier: Apache-2.0
/*
 * The order in which a frame's rows are merged: by the keys of one column, rows with equal keys as
 * they lie.
 *
 * Nodes usually send rows in the order asked for; then a row's place is its number. Otherwise a
 * permutation is made once. Keys of int64 columns, timestamps above all, are the values as they
 * lie; TagValue messages are parsed once, not at every comparison.
 */
#pragma once

#include "frame/progress.h"
#include "frame/view.h"
#include "merge/key.h"

struct order_sort;

struct order {
    const struct column *column; /* borrow: view; NULL: every key is null */
    size_t count;                /* rows; 32 bits hold their numbers, as in frames */
    bool descending;
    bool by_number;   /* the column is int64, not constant, without nulls */
    struct key *keys; /* borrow: region; of every row, NULL = made when needed */
    uint32_t *rows;   /* borrow: region; by place, NULL = as they lie */

    enum order_step { ORDER_BEGIN, ORDER_KEYS, ORDER_LOOK, ORDER_SORT, ORDER_MADE } step;
    size_t made;             /* rows of this step that have been looked at */
    struct order_sort *sort; /* borrow: region */
};

/* Of an order with column, count and direction set, in shares: until it is made nothing else is
 * allocated in the region. FAILED: a cell of the column is malformed. */
enum progress order_some(struct order *order, struct arena *arena, size_t *left,
                         struct error *err) MUST_CHECK;
/* The whole of it. */
bool order_make(struct order *order, struct arena *arena, struct error *err) MUST_CHECK;

/* The row at this place. */
static inline size_t order_row(const struct order *order, size_t place)
{
    return order->rows == NULL ? place : order->rows[place];
}

void order_key_of_cell(const struct order *order, size_t row, struct key *key);

/* The key of a row by its number; borrows the region or the message. Numbers are written in place:
 * a key that is made elsewhere and copied right away costs more than all the rest. */
static inline void order_key(const struct order *order, size_t row, struct key *key)
{
    if (!order->by_number) {
        order_key_of_cell(order, row, key);
        return;
    }
    key->head = key_of_int(column_int(order->column, row)).head;
    key->ptr = NULL;
    key->len = sizeof key->head;
    key->present = true;
}

/* How many rows from this place on have the same key; no more than `most` are looked at. */
size_t order_run(const struct order *order, size_t place, size_t most);
