// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "proto/request.h"

/* Turns the stages asked for, or each group's default ones, into the groups' node selectors. Each
 * group has its own: where upstream asks the union of all groups' nodes for every group, a group
 * without stages is here asked on all nodes, and a staged one on its own. */
bool request_stage(struct request *request, const struct catalog *catalog, const char *hot_selector,
                   struct arena *arena, struct error *err) MUST_CHECK;
