// SPDX-License-Identifier: Apache-2.0
/* The part of a plan that says in which order rows are merged. */
#pragma once

#include "proto/request.h"

/* Order by time, or by the tag of the index rule that order_by names: fills the plan's order,
 * direction, tag, and whether the tag is hidden. The groups have their measures. false: err as the
 * client sees it, with the reason of the first group when no group has such a rule. */
bool request_order(struct request *request, const struct catalog *catalog,
                   struct error *err) MUST_CHECK;

/* Would the group's nodes know the rule that order_by names? false: err has their reason. */
bool request_order_known(const struct request *request, const struct request_group *group,
                         const struct catalog *catalog, struct error *err) MUST_CHECK;
