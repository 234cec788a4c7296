// SPDX-License-Identifier: Apache-2.0
/*
 * Revisions that the client has seen: a query runs only on schemas of exactly these revisions, and
 * never over data from before the schema was made.
 */
#include "proto/moment.h"
#include "proto/request.h"

typedef Banyandb__Measure__V1__QueryRequest query_request;

/* 0 = the group is not gated. Of entries with the same key the last one counts. */
static int64_t wanted_revision(const query_request *message, struct slice group)
{
    int64_t revision = 0;
    for (size_t i = 0; i < message->n_group_mod_revisions; i++) {
        if (slice_equal(slice_str(message->group_mod_revisions[i]->key), group)) {
            revision = message->group_mod_revisions[i]->value;
        }
    }
    return revision;
}

static int32_t status_of(const Banyandb__Database__V1__Measure *measure, int64_t wanted)
{
    if (measure == NULL) {
        return BANYANDB__MODEL__V1__STATUS__STATUS_NOT_FOUND;
    }
    int64_t applied = measure->metadata->mod_revision;
    if (wanted == applied) {
        return BANYANDB__MODEL__V1__STATUS__STATUS_SUCCEED;
    }
    return wanted < applied ? BANYANDB__MODEL__V1__STATUS__STATUS_EXPIRED_SCHEMA
                            : BANYANDB__MODEL__V1__STATUS__STATUS_SCHEMA_NOT_APPLIED;
}

/* Fills the groups' statuses; SUCCEED when all gated groups have it. */
static enum request_step gate_groups(struct request *request, const struct catalog *catalog,
                                     bool may_wait)
{
    enum request_step step = REQUEST_GO_ON;
    struct slice name = slice_str(request->message->name);
    for (size_t i = 0; i < request->group_count; i++) {
        struct request_group *group = &request->groups[i];
        int64_t wanted = wanted_revision(request->message, group->name);
        group->gated = wanted != 0;
        if (!group->gated) {
            continue;
        }
        group->status = status_of(catalog_measure(catalog, group->name, name), wanted);
        if (group->status == BANYANDB__MODEL__V1__STATUS__STATUS_SCHEMA_NOT_APPLIED && may_wait) {
            return REQUEST_WAIT;
        }
        if (group->status != BANYANDB__MODEL__V1__STATUS__STATUS_SUCCEED) {
            step = REQUEST_ANSWERED;
        }
    }
    return step;
}

/* Moves the range's begin up to the newest created_at of the groups' measures. */
static void clamp(struct request *request, const struct catalog *catalog)
{
    Google__Protobuf__Timestamp *begin = request->message->time_range->begin;
    struct slice name = slice_str(request->message->name);
    for (size_t i = 0; i < request->group_count; i++) {
        const Banyandb__Database__V1__Measure *measure =
            catalog_measure(catalog, request->groups[i].name, name);
        if (measure == NULL || measure->created_at == NULL) {
            continue;
        }
        struct moment created = moment_of(measure->created_at);
        if (moment_compare(moment_of(begin), created) < 0) {
            begin->seconds = created.seconds;
            begin->nanos = created.nanos;
        }
    }
}

enum request_step request_gate(struct request *request, const struct catalog *catalog,
                               bool may_wait)
{
    if (request->message->n_group_mod_revisions == 0) {
        return REQUEST_GO_ON;
    }
    enum request_step step = gate_groups(request, catalog, may_wait);
    if (step != REQUEST_GO_ON) {
        return step;
    }
    clamp(request, catalog);
    const Banyandb__Model__V1__TimeRange *range = request->message->time_range;
    bool empty = moment_compare(moment_of(range->begin), moment_of(range->end)) > 0;
    return empty ? REQUEST_ANSWERED : REQUEST_GO_ON;
}
