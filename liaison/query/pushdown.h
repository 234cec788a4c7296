// SPDX-License-Identifier: Apache-2.0
/*
 * Whether the nodes may aggregate for us: only when no row can lie on two of them.
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
#include "proto/request.h"

/* The mode for a request that aggregates, by --aggregation. */
enum plan_mode pushdown_mode(const struct request *request, const struct world *world,
                             struct executor *executor);
