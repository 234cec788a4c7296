// SPDX-License-Identifier: Apache-2.0
/*
 * A merge sort of a frame's rows that can be left in the midst of it, for frames whose sorting
 * takes longer than a loop's turn may.
 */
#pragma once

#include "merge/order.h"

/* In the region, where nothing else is allocated until its end. */
struct order_sort *order_sort_begin(const struct order *order, struct arena *arena);
/* True: it is done. */
bool order_sort_some(struct order_sort *sort, size_t *left);
/* The numbers of the rows by place, in the region; everything else is given up. */
uint32_t *order_sort_end(struct order_sort *sort, struct arena *arena);
