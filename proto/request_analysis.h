// SPDX-License-Identifier: Apache-2.0
/*
 * What the nodes would say against a request that groups or aggregates, said here: the same checks
 * in the same order and words, with the schemas of all groups asked.
 *
 *     projected names ─▶ order ─▶ group_by ─▶ agg ─▶ types of tags ─▶ function ─▶ type of the field
 *
 * When rows are asked instead of aggregates no node sees group_by and agg, and would answer a wrong
 * family with nulls; and an aggregated string makes a node panic. Criteria are left to the nodes,
 * which look at them between the order and group_by.
 */
#pragma once

#include "proto/request.h"

/* After the measures were found. Of several groups' faults the first is told. A request that
 * neither groups nor aggregates has none. */
bool request_analysis(const struct request *request, const struct catalog *catalog,
                      struct error *err) MUST_CHECK;
