// SPDX-License-Identifier: Apache-2.0
/*
 * Rows that nodes announce, against what the answer may have: a frame of constants is small, its
 * rows in the answer are not.
 *
 *     a message's head ─▶ measure_rows_admit ─┐
 *     a message, whole ─▶ measure_rows_take ──┴▶ fewest rows × least bytes of one: fits, or not
 *
 * What is refused so would be refused later, when the answer is filled up to the limit.
 */
#pragma once

#include "liaison/query/work.h"
#include "merge/fewest.h"

struct measure_rows {
    const struct options *options; /* borrow: outlives it */
    struct fewest fewest;
    size_t least;      /* bytes of a row of the answer */
    size_t most_bytes; /* of the answer */
};

/* The request is planned, its mode chosen; no frame has come. */
void measure_rows_init(struct measure_rows *rows, const struct work *work,
                       const struct request *request, size_t most_bytes);
/* False: the answer would have too many rows with this message. */
bool measure_rows_admit(const struct measure_rows *rows, const struct fanout_source *source,
                        size_t declared, struct slice head, struct error *err) MUST_CHECK;
/* The frame is there and becomes part of the answer. False: likewise. */
bool measure_rows_take(struct measure_rows *rows, const struct fanout_source *source,
                       struct slice frame, struct error *err) MUST_CHECK;
