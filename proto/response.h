// SPDX-License-Identifier: Apache-2.0
/*
 * Rows → QueryResponse bytes, appended one data point at a time: a sink of the merge.
 *
 * A data point is sized first and written once, so no length is ever patched and nothing moves.
 * What is equal in every row (names, keys) is encoded once when the layout is known.
 */
#pragma once

#include "frame/chain.h"
#include "merge/arena.h"
#include "merge/row.h"
#include "proto/request.h"

struct response {
    struct sink sink;    /* what the merge writes to */
    struct chain *chain; /* borrow: the bytes so far */
    size_t rows;
    size_t bad_texts;   /* strings written that are not UTF-8 */
    size_t limit_bytes; /* the query's budget: past it RESOURCE_EXHAUSTED with the figures */
    struct response_layout *layout; /* borrow: the region */
    struct arena *arena;            /* borrow */
};

void response_init(struct response *response, struct chain *chain, size_t limit_bytes,
                   struct arena *arena);
/* The fewest bytes that a row takes in such a layout, if its time is `begin`, ns since the epoch,
 * or later: one of nulls. */
size_t response_least(const struct layout *layout, int64_t begin, struct arena *arena);
/* Appends group_statuses of gated groups (field 50, in request order). */
void response_statuses(struct response *response, const struct request *request);
