// SPDX-License-Identifier: Apache-2.0
/* Members are numbered by their place in the world, which is by name: that is a call's rank. */
#include "liaison/query/broadcast.h"

#include "liaison/cluster/selection.h"
#include "liaison/query/completeness.h"
#include "proto/moment.h"

#include <stdlib.h>

#define DEFAULT_TIMEOUT_NS 15000000000

struct broadcast_group {
    struct selection selection;
    struct slice body; /* borrow: the arena */
    const char *name;  /* borrow: the arena */
};

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
        up[i] = node != NULL && node_state(node) == NODE_UP;
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
    if (broadcast->request->group_count == 1) {
        return error_prefix(err, "vec distributed plan: broadcast");
    }
    return error_prefix(err, "vec distributed plan: broadcast group %.*s",
                        SLICE_ARG(broadcast->request->groups[group].name));
}

static bool prepare_group(struct broadcast *broadcast, size_t i, const bool *up, struct error *err)
{
    const struct request_group *asked = &broadcast->request->groups[i];
    struct broadcast_group *group = &broadcast->groups[i];
    size_t members = broadcast->world->member_count;
    group->selection.asked = arena_array(broadcast->arena, uint32_t, members);
    group->selection.missing = arena_array(broadcast->arena, uint32_t, members);
    if (!selection_make(&group->selection, broadcast->world, up, asked->name, asked->selectors,
                        asked->selector_count, err)) {
        return refuse_group(broadcast, i, err);
    }
    group->name = arena_strdup(broadcast->arena, asked->name);
    group->body = request_push(broadcast->request, i, broadcast->arena);
    broadcast->call_count += group->selection.asked_count;
    return true;
}

static bool lacks_rows(const struct broadcast *broadcast, size_t group, const bool *up)
{
    if (broadcast->groups[group].selection.missing_count == 0) {
        return false;
    }
    struct moment begin = moment_of(broadcast->request->message->time_range->begin);
    const struct completeness completeness = {
        .world = broadcast->world,
        .up = up,
        .down_at = members_down_at(broadcast),
        .begin = begin.seconds * 1000000000 + begin.nanos,
        .arena = broadcast->arena,
    };
    return !completeness_holds(&completeness, &broadcast->request->groups[group]);
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
    for (size_t group = 0; group < broadcast->request->group_count; group++) {
        const struct selection *selection = &broadcast->groups[group].selection;
        bool lacks = lacks_rows(broadcast, group, up);
        for (size_t i = 0; lacks && i < selection->missing_count; i++) {
            missing[selection->missing[i]] = true;
        }
    }
    broadcast->incomplete = join_names(broadcast->world, missing);
}

bool broadcast_prepare(struct broadcast *broadcast, struct error *err)
{
    size_t groups = broadcast->request->group_count;
    const bool *up = members_up(broadcast);
    broadcast->groups = arena_array(broadcast->arena, struct broadcast_group, groups);
    for (size_t i = 0; i < groups; i++) {
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

static void ask_group(const struct broadcast *broadcast, size_t i, struct fanout *fanout)
{
    const struct broadcast_group *group = &broadcast->groups[i];
    const struct node_call_options options = {
        .topic = "v1:internal-measure-query",
        .body = group->body,
        .group = group->name,
        .sender_node = options_of(broadcast)->node_name,
        .deadline = deadline(broadcast),
        .charge = broadcast->charge,
    };
    for (size_t j = 0; j < group->selection.asked_count; j++) {
        uint32_t rank = group->selection.asked[j];
        const struct member *member = &broadcast->world->members[rank];
        fanout_ask(fanout, i, rank, executor_node(broadcast->executor, member), &options);
    }
}

void broadcast_ask(const struct broadcast *broadcast, struct fanout *fanout)
{
    for (size_t i = 0; i < broadcast->request->group_count; i++) {
        ask_group(broadcast, i, fanout);
    }
    fanout_seal(fanout);
}
