// SPDX-License-Identifier: Apache-2.0
/* The rules that all kinds of requests obey, and the Go liaison's texts, by which
 * clients know them. */
#pragma once

#include "frame/error.h"
#include "proto/model.pb-c.h"

/* More stages than any group has are refused, because each is compared with all of a group's. */
#define REQUEST_RULES_MAX_STAGES 1000
/* Likewise groups, each of which is looked for among the revisions and counted in the metrics. */
#define REQUEST_RULES_MAX_GROUPS 1000

struct request_rules {
    const char *type; /* "QueryRequest" */
    size_t group_count;
    const char *name;
    const Banyandb__Model__V1__TimeRange *time_range; /* NULL: the client sent none */
    const int32_t *top_n;                             /* NULL: this kind has none */
    size_t stage_count;
};

/* The range as texts tell it: "begin:{seconds:1} end:{seconds:2}". */
void request_rules_range_text(const Banyandb__Model__V1__TimeRange *range, char *to, size_t size);

bool request_rules_check(const struct request_rules *rules, struct error *err) MUST_CHECK;

/* INVALID_ARGUMENT when there are more than `max` names in this field. */
bool request_rules_check_count(const char *field, size_t count, size_t max,
                               struct error *err) MUST_CHECK;
