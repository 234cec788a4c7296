// SPDX-License-Identifier: Apache-2.0
/* Members are numbered by their place in the world, which is by name: that is a call's rank. */
#include "liaison/query/broadcast.h"

#include "liaison/cluster/selection.h"
#include "liaison/own.h"
#include "liaison/query/completeness.h"

#include <stdlib.h>

#define DEFAULT_TIMEOUT_NS 15000000000

static const struct options *options_of(const struct broadcast *broadcast)
{
    return executor_setup(broadcast->executor)->options;
}

static bool *members_up(const struct broadcast *broadcast)
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

static bool prepare_group(struct broadcast *broadcast, size_t i, struct error *err)
{
    const struct request_group *asked = &broadcast->groups[i];
    struct selection *selection = &broadcast->selections[i];
    size_t members = broadcast->world->member_count;
    selection->asked = arena_array(broadcast->arena, uint32_t, members);
    selection->missing = arena_array(broadcast->arena, uint32_t, members);
    return selection_make(selection, broadcast->world, broadcast->up, asked->name, asked->selectors,
                          asked->selector_count, err) ||
           refuse_group(broadcast, i, err);
}

/* What is missing when `up` can be asked and nobody else */

static struct selection select_group(const struct broadcast *broadcast, size_t group,
                                     const bool *up)
{
    const struct request_group *asked = &broadcast->groups[group];
    const size_t members = broadcast->world->member_count;
    struct selection selection = {
        .asked = arena_array(broadcast->arena, uint32_t, members),
        .missing = arena_array(broadcast->arena, uint32_t, members),
    };
    struct error ignored; /* then nobody is asked, and all are missing */
    (void)!selection_make(&selection, broadcast->world, up, asked->name, asked->selectors,
                          asked->selector_count, &ignored);
    return selection;
}

static bool lacks_rows(const struct broadcast *broadcast, size_t group, const bool *up)
{
    const struct completeness completeness = {
        .world = broadcast->world,
        .up = up,
        .down_at = members_down_at(broadcast),
        .begin = broadcast->begin,
        .arena = broadcast->arena,
    };
    return !completeness_holds(&completeness, &broadcast->groups[group]);
}

/* Marks members whose rows the answer lacks. False: for some group there is nobody left. */
static bool mark_missing(const struct broadcast *broadcast, const bool *up, bool *missing)
{
    bool has_all = true;
    for (size_t group = 0; group < broadcast->group_count; group++) {
        const struct selection selection = select_group(broadcast, group, up);
        has_all = has_all && selection.asked_count > 0;
        if (selection.missing_count == 0 || !lacks_rows(broadcast, group, up)) {
            continue;
        }
        for (size_t i = 0; i < selection.missing_count; i++) {
            missing[selection.missing[i]] = true;
        }
    }
    return has_all;
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
    char *names = own_array(len + 1, 1);
    char *to = names;
    for (size_t i = 0; i < world->member_count; i++) {
        if (marked[i]) {
            to = stpcpy(stpcpy(to, to == names ? "" : ", "), world->members[i].name);
        }
    }
    return names;
}

static bool refuse_incomplete(const struct broadcast *broadcast, const char *what,
                              struct error *err)
{
    return error_set(err, ERROR_UNAVAILABLE,
                     "the answer would lack rows of data nodes that %s: %s (--incomplete=fail)",
                     what, broadcast->incomplete);
}

static bool *new_marks(const struct broadcast *broadcast)
{
    bool *marks = arena_array(broadcast->arena, bool, broadcast->world->member_count);
    memset(marks, 0, broadcast->world->member_count * sizeof *marks);
    return marks;
}

bool broadcast_prepare(struct broadcast *broadcast, struct error *err)
{
    broadcast->up = members_up(broadcast);
    broadcast->lost = new_marks(broadcast);
    broadcast->selections = arena_array(broadcast->arena, struct selection, broadcast->group_count);
    for (size_t i = 0; i < broadcast->group_count; i++) {
        if (!prepare_group(broadcast, i, err)) {
            return false;
        }
    }
    bool *missing = new_marks(broadcast);
    (void)mark_missing(broadcast, broadcast->up, missing); /* each group asks somebody */
    broadcast->incomplete = join_names(broadcast->world, missing);
    if (broadcast->incomplete == NULL || options_of(broadcast)->incomplete != INCOMPLETE_FAIL) {
        return true;
    }
    return refuse_incomplete(broadcast, "are down", err);
}

/* Nodes lost on the way */

/* What is missing is known; may the answer do without the one that was just lost? */
static bool tolerates(const struct broadcast *broadcast, bool is_missed, struct error *err)
{
    switch ((enum incomplete_mode)options_of(broadcast)->incomplete) {
    case INCOMPLETE_MARK:
        return !is_missed;
    case INCOMPLETE_FAIL:
        return broadcast->incomplete == NULL || refuse_incomplete(broadcast, "failed", err);
    case INCOMPLETE_SERVE:
        break;
    }
    return true;
}

bool broadcast_lose(struct broadcast *broadcast, size_t rank, struct error *err)
{
    if (broadcast->lost[rank]) {
        return true;
    }
    broadcast->up[rank] = false;
    bool *missing = new_marks(broadcast);
    if (!mark_missing(broadcast, broadcast->up, missing)) {
        return false;
    }
    free(broadcast->incomplete);
    broadcast->incomplete = join_names(broadcast->world, missing);
    broadcast->lost[rank] = tolerates(broadcast, missing[rank], err);
    return broadcast->lost[rank];
}

bool broadcast_can_spare(const struct broadcast *broadcast, const bool *waiting)
{
    const size_t members = broadcast->world->member_count;
    struct arena_mark mark = arena_mark(broadcast->arena);
    bool *up = new_marks(broadcast);
    bool *missing = new_marks(broadcast);
    for (size_t i = 0; i < members; i++) {
        up[i] = broadcast->up[i] && !waiting[i];
    }
    bool can = mark_missing(broadcast, up, missing);
    for (size_t i = 0; i < members; i++) {
        can = can && !(waiting[i] && missing[i]);
    }
    arena_rewind(broadcast->arena, mark);
    return can;
}

/* Asking */

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

size_t broadcast_calls(const struct broadcast *broadcast)
{
    size_t calls = 0;
    for (size_t i = 0; i < broadcast->group_count; i++) {
        calls += broadcast_size(broadcast, i);
    }
    return calls;
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
    };
    const struct fanout_source source = {
        .question = question->number, .rank = rank, .name = member->name};
    struct node *node = broadcast->lost[rank] ? NULL : executor_node(broadcast->executor, member);
    fanout_ask(fanout, &source, node, &options);
}

void broadcast_ask(const struct broadcast *broadcast, struct fanout *fanout,
                   const struct broadcast_question *question)
{
    const struct selection *selection = &broadcast->selections[question->group];
    for (size_t i = 0; i < selection->asked_count; i++) {
        broadcast_ask_one(broadcast, fanout, question, selection->asked[i]);
    }
}
