// SPDX-License-Identifier: Apache-2.0
/* The part of a plan that says what becomes of the rows: groups, a function, a top. */
#pragma once

#include "proto/request.h"

/* Fills the plan's keys, agg and top, and mode FOLD for a request that
 * aggregates, which is right wherever rows lie. The request has passed its checks (request_plan)
 * and its order is known. */
void request_aggregate(struct request *request, struct arena *arena);
