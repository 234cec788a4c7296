// SPDX-License-Identifier: Apache-2.0
/* Members are numbered by their place in the world, which is by name: that is a call's rank. */
#include "liaison/query/broadcast.h"

#include "liaison/cluster/selection.h"
#include "liaison/query/completeness.h"

#include <stdlib.h>

#define DEFAULT_TIMEOUT_NS 15000000000

static const struct options *options_of(const struct broadcast *broadcast)
{
    return executor_setup(broadcast->executor)->options;
}

static const bool *members_up(const struct broadcast *broadcast)
{
    const struct world *world = broadcast->world;
    bool *up = arena_array(broadcast->arena, bool, world->member_count);
    for (size_t i = 0; i < world->member_count; i++) {
        struct node *node = executor_node(broadcast->executor, &world->members[i]);
        up[i] = node != NULL && node_takes_calls(node);
    }
    return up;
}

static const int64_t *members_down_at(const struct broadcast *broadcast)
{
    const struct world *world = broadcast->world;
    int64_t *down_at = arena_array(broadcast->arena, int64_t, world->member_count);
    for (size_t i = 0; i < world->member_count; i++) {
        struct node *node = executor_node(broadcast->executor, &world->members[i]);
        down_at[i] = node == NULL ? 0 : node_down_at(node);
    }
    return down_at;
}

static bool refuse_group(const struct broadcast *broadcast, size_t group, struct error *err)
{
    err->code = ERROR_UNKNOWN; /* what clients know; the text tells more */
    if (broadcast->refusal[0] == '\0') {
        return false;
    }
    if (broadcast->group_count == 1) {
        return error_prefix(err, "%s", broadcast->refusal);
    }
    return error_prefix(err, "%s group %.*s", broadcast->refusal,
                        SLICE_ARG(broadcast->groups[group].name));
}

static bool prepare_group(struct broadcast *broadcast, size_t i, const bool *up, struct error *err)
{
    const struct request_group *asked = &broadcast->groups[i];
    struct selection *selection = &broadcast->selections[i];
    size_t members = broadcast->world->member_count;
    selection->asked = arena_array(broadcast->arena, uint32_t, members);
    selection->missing = arena_array(broadcast->arena, uint32_t, members);
    return selection_make(selection, broadcast->world, up, asked->name, asked->selectors,
                          asked->selector_count, err) ||
           refuse_group(broadcast, i, err);
}

static bool lacks_rows(const struct broadcast *broadcast, size_t group, const bool *up)
{
    if (broadcast->selections[group].missing_count == 0) {
        return false;
    }
    const struct completeness completeness = {
        .world = broadcast->world,
        .up = up,
        .down_at = members_down_at(broadcast),
        .begin = broadcast->begin,
        .arena = broadcast->arena,
    };
    return !completeness_holds(&completeness, &broadcast->groups[group]);
}

/* Names of the marked members, in their order. */
static char *join_names(const struct world *world, const bool *marked)
{
    size_t len = 0;
    for (size_t i = 0; i < world->member_count; i++) {
        len += marked[i] ? strlen(world->members[i].name) + 2 : 0;
    }
    if (len == 0) {
        return NULL;
    }
    char *names = calloc(1, len + 1);
    if (names == NULL) {
        abort();
    }
    char *to = names;
    for (size_t i = 0; i < world->member_count; i++) {
        if (marked[i]) {
            to = stpcpy(stpcpy(to, to == names ? "" : ", "), world->members[i].name);
        }
    }
    return names;
}

static void note_missing(struct broadcast *broadcast, const bool *up)
{
    bool *missing = arena_array(broadcast->arena, bool, broadcast->world->member_count);
    for (size_t group = 0; group < broadcast->group_count; group++) {
        const struct selection *selection = &broadcast->selections[group];
        bool lacks = lacks_rows(broadcast, group, up);
        for (size_t i = 0; lacks && i < selection->missing_count; i++) {
            missing[selection->missing[i]] = true;
        }
    }
    broadcast->incomplete = join_names(broadcast->world, missing);
}

bool broadcast_prepare(struct broadcast *broadcast, struct error *err)
{
    const bool *up = members_up(broadcast);
    broadcast->selections = arena_array(broadcast->arena, struct selection, broadcast->group_count);
    for (size_t i = 0; i < broadcast->group_count; i++) {
        if (!prepare_group(broadcast, i, up, err)) {
            return false;
        }
    }
    note_missing(broadcast, up);
    if (broadcast->incomplete == NULL || options_of(broadcast)->incomplete != INCOMPLETE_FAIL) {
        return true;
    }
    return error_set(err, ERROR_UNAVAILABLE,
                     "the answer would lack rows of data nodes that are down: %s "
                     "(--incomplete=fail)",
                     broadcast->incomplete);
}

/* The broadcast timeout, or what is left of the client's own deadline. */
static uint64_t deadline(const struct broadcast *broadcast)
{
    int64_t timeout = options_of(broadcast)->dst_broadcast_timeout;
    uint64_t at = loop_now(executor_loop(broadcast->executor)) +
                  (uint64_t)(timeout > 0 ? timeout : DEFAULT_TIMEOUT_NS);
    uint64_t client = broadcast->client_deadline;
    return client != 0 && client < at ? client : at;
}

size_t broadcast_size(const struct broadcast *broadcast, size_t group)
{
    return broadcast->selections[group].asked_count;
}

void broadcast_ask_one(const struct broadcast *broadcast, struct fanout *fanout,
                       const struct broadcast_question *question, size_t rank)
{
    /* a string of the message: a NUL follows */
    const char *group = (const char *)broadcast->groups[question->group].name.ptr;
    const struct member *member = &broadcast->world->members[rank];
    const struct node_call_options options = {
        .topic = question->topic,
        .body = question->body,
        .group = group,
        .sender_node = options_of(broadcast)->node_name,
        .deadline = deadline(broadcast),
        .charge = broadcast->charge,
    };
    const struct fanout_source source = {
        .question = question->number, .rank = rank, .name = member->name};
    fanout_ask(fanout, &source, executor_node(broadcast->executor, member), &options);
}

void broadcast_ask(const struct broadcast *broadcast, struct fanout *fanout,
                   const struct broadcast_question *question)
{
    const struct selection *selection = &broadcast->selections[question->group];
    for (size_t i = 0; i < selection->asked_count; i++) {
        broadcast_ask_one(broadcast, fanout, question, selection->asked[i]);
    }
}
