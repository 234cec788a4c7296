// SPDX-License-Identifier: Apache-2.0
/*
 * One node's frame of partial totals on its way into the groups, batch by batch: when the last row
 * is in, all that outlives the frame has been copied, and its message may go.
 *
 *     shard | tags: keys, and others | value | value__agg_count (MEAN)
 *
 * All partials are combined. A partial's shard is not looked at: a node's partial covers all its
 * shards, and where rows may lie on two nodes, partials are not asked for.
 *
 * Keys are spelled and hashed for a batch of rows at a time, so that the table's slots are on
 * their way from memory when they are looked up.
 */
#pragma once

#include "frame/progress.h"
#include "frame/view.h"
#include "merge/fold.h"

struct partial;

/* In the fold's scratch region, which the caller empties when all is done. `group` and `rank` as in
 * merge_feed. NULL: the frame lacks a column, or its columns are not those of the others. */
struct partial *partial_begin(struct fold *fold, const struct view *view, size_t group, size_t rank,
                              struct error *err) MUST_CHECK;
/* The next rows. When the fold's region goes over its budget the rest of the frame is left out. */
enum progress partial_some(struct partial *partial, size_t *left, struct error *err) MUST_CHECK;
