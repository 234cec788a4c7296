// SPDX-License-Identifier: Apache-2.0
/*
 * Whether the nodes may aggregate for us: only when no row can lie on two of them; and whether what
 * they have sent then will do.
 *
 * A node's partial does not say which rows went into it, so a row with a copy elsewhere would be
 * counted twice. Rows have copies in groups with replicas, in two stages of one group, and where
 * shards were dealt anew since they were written: BanyanDB does that whenever nodes come or go and
 * whenever any group is created, changed or deleted. So partials are exact for groups without
 * replicas and a range that begins after the last such moment; everything else is asked as rows.
 * So are groups by an array, which nodes refuse to make.
 */
#pragma once

#include "liaison/query/executor.h"
#include "merge/merge.h"
#include "proto/request.h"

/* The mode for a request that aggregates, by --aggregation. */
enum plan_mode pushdown_mode(const struct request *request, const struct world *world,
                             struct executor *executor);

/* Of partials: why they will not do, and the nodes are to be asked for rows; NULL: they do. `merge`
 * has taken them all in, unless that, or a node, has `failed`. Borrowed from there or for ever. */
const struct error *pushdown_why_rows(enum aggregation_mode mode, const struct merge *merge,
                                      const struct error *failed);
