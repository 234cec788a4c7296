// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "proto/request.h"

/* Several groups: the answer's columns, from the client's projections or, where one is absent, from
 * all schemas in the order of first sight, whatever the nodes are asked for: what no node sends is
 * null (query-semantics 2.5). A hidden order-by tag is one of the columns, marked so. false: a
 * projected tag that no group has. */
bool request_layout(struct request *request, struct arena *arena, struct error *err) MUST_CHECK;
