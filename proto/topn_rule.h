// SPDX-License-Identifier: Apache-2.0
/*
 * The rule (TopNAggregation) by which a group's values are pre-aggregated: found and checked.
 *
 * What a node cannot serve it answers with nothing, or by crashing. So the rule, its source
 * measure, the field's type and the direction are checked before a node is asked, in every group.
 */
#pragma once

#include "frame/error.h"
#include "merge/plan.h"
#include "proto/catalog.h"
#include "proto/interval.h"
#include "proto/measure.pb-c.h"
#include "proto/request_group.h"

struct topn_rule {
    const Banyandb__Database__V1__TopNAggregation *rule; /* borrow: the catalog */
    enum plan_type type;                                 /* of the field */
    /* Of the client's range. Interval 0: the source measure has none that can be read. */
    struct interval_buckets buckets;
};

/* Finds the group's rule of the request's name, and its source measure, which becomes the group's.
 * Refused with the query processor's texts. */
bool topn_rule_find(const Banyandb__Measure__V1__TopNRequest *message, struct request_group *group,
                    const struct catalog *catalog, struct topn_rule *rule,
                    struct error *err) MUST_CHECK;
