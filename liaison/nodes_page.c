// SPDX-License-Identifier: Apache-2.0
/* First one summary of all executors for each member, then its JSON. */
#include "liaison/nodes_page.h"

#include "liaison/own.h"
#include "proto/moment.h"
#include "proto/rfc3339.h"

#include <jansson.h>

#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

struct summary {
    size_t executors;           /* that have a connection, healthy or not */
    size_t up;                  /* of them */
    struct node_report overall; /* the worst state, the latest moments, all calls */
};

/* "open" is worse than "half-open", that worse than "closed". */
static const char *worse_breaker(const char *a, const char *b)
{
    return a == NULL || strcmp(b, "open") == 0 || strcmp(a, "closed") == 0 ? b : a;
}

static void take(struct summary *summary, const struct node_report *report)
{
    struct node_report *overall = &summary->overall;
    overall->state = summary->executors == 0 ? report->state : MIN(overall->state, report->state);
    overall->since = MAX(overall->since, report->since);
    if (report->last_error_at > overall->last_error_at) {
        overall->last_error_at = report->last_error_at;
        overall->last_error = report->last_error;
    }
    overall->breaker = worse_breaker(overall->breaker, report->breaker);
    overall->calls += report->calls;
    overall->frame_version = MAX(overall->frame_version, report->frame_version);
    summary->executors++;
    summary->up += report->state == NODE_UP ? 1 : 0;
}

static void take_part(struct summary *summary, const struct survey_part *part, const char *name)
{
    for (size_t i = 0; i < part->count; i++) {
        if (strcmp(part->nodes[i].name, name) == 0) {
            take(summary, &part->nodes[i].report);
        }
    }
}

static struct summary summarise(const struct survey_result *result, const char *name)
{
    struct summary summary = {0};
    for (size_t i = 0; i < result->count; i++) {
        take_part(&summary, &result->parts[i], name);
    }
    return summary;
}

static void set_moment(json_t *object, const char *key, int64_t at)
{
    char text[RFC3339_SIZE];
    if (at != 0) {
        const Google__Protobuf__Timestamp timestamp = moment_timestamp(at);
        rfc3339_print(moment_of(&timestamp), text);
        json_object_set_new(object, key, json_string(text));
    }
}

static const char *state_name(const struct member *member, const struct summary *summary)
{
    static const char *const names[] = {"down", "probing", "up"};
    if (!member->reached) {
        return "unreached";
    }
    if (member->left_at != 0) {
        return "left";
    }
    return summary->executors == 0 ? "probing" : names[summary->overall.state];
}

static json_t *labels_of(const struct member *member)
{
    json_t *labels = json_object();
    for (size_t i = 0; i < member->label_count; i++) {
        json_object_set_new(labels, member->labels[i].key, json_string(member->labels[i].value));
    }
    return labels;
}

static void describe_connections(json_t *object, const struct summary *summary)
{
    const struct node_report *overall = &summary->overall;
    json_object_set_new(object, "executors", json_integer((json_int_t)summary->executors));
    json_object_set_new(object, "executors_up", json_integer((json_int_t)summary->up));
    json_object_set_new(object, "calls", json_integer((json_int_t)overall->calls));
    if (summary->executors == 0) {
        return;
    }
    json_object_set_new(object, "breaker", json_string(overall->breaker));
    if (overall->last_error_at != 0) {
        json_object_set_new(object, "last_error", json_string(overall->last_error.text));
        set_moment(object, "last_error_at", overall->last_error_at);
    }
    if (overall->frame_version != 0) {
        json_object_set_new(object, "frame_version", json_integer(overall->frame_version));
    }
}

static json_t *describe(const struct survey_result *result, const struct member *member)
{
    const struct summary summary = summarise(result, member->name);
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(member->name));
    json_object_set_new(object, "address", json_string(member->address));
    json_object_set_new(object, "state", json_string(state_name(member, &summary)));
    set_moment(object, "since", member->left_at != 0 ? member->left_at : summary.overall.since);
    describe_connections(object, &summary);
    json_object_set_new(object, "labels", labels_of(member));
    set_moment(object, "created_at", member->created_at);
    return object;
}

char *nodes_page_text(const struct survey_result *result)
{
    const struct world *world = survey_world(result);
    json_t *nodes = json_array();
    for (size_t i = 0; world != NULL && i < world->member_count; i++) {
        json_array_append_new(nodes, describe(result, &world->members[i]));
    }
    json_t *page = json_pack("{s:o}", "nodes", nodes);
    char *text = own_checked(json_dumps(page, JSON_INDENT(2) | JSON_PRESERVE_ORDER));
    json_decref(page);
    return text;
}
