// SPDX-License-Identifier: Apache-2.0
/* The part of a plan that says which columns the merged rows have, and which of them are shown. */
#pragma once

#include "proto/request.h"

/* Several groups: the columns of the rows that are merged.
 *
 *     rows         the client's projections or, where one is absent, all schemas in the order of
 *                  first sight, whatever the nodes are asked for: what no node sends is null
 *     aggregates   the client's tags that some group has; the aggregated field
 *
 * Group keys are columns, too; a hidden order tag and a hidden top field are, marked so. false:
 * rows with a projected tag that no group has. */
bool request_layout(struct request *request, struct arena *arena, struct error *err) MUST_CHECK;

/* Rows: the columns that each of them shows, whatever the frames are like. With several groups that
 * is the layout; with one the frames tell it, and what is asked for is part of it. */
const struct layout *request_layout_shown(const struct request *request, struct arena *arena);
