// SPDX-License-Identifier: Apache-2.0
/* Calls are slots of an array in the region; the counter tells when the last answer is in. */
#include "liaison/query/fanout.h"

#include "frame/envelope.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

struct ask {
    struct fanout *fanout;  /* borrow: in the same region */
    struct node_call *call; /* own; NULL when answered */
    const char *node;       /* borrow: the region */
    size_t group;
    size_t rank;
    bool refused;         /* its message was, by the fan-out's owner */
    struct error failure; /* code NONE: answered, or still open */
};

struct fanout {
    struct arena *arena; /* borrow: outlives it */
    struct fanout_events events;
    void *owner; /* borrow: outlives it */
    size_t capacity;
    size_t asked;
    size_t open;
    bool sealed;
    struct ask *asks; /* borrow: region */
};

struct fanout *fanout_open(struct arena *arena, size_t capacity, const struct fanout_events *events,
                           void *owner)
{
    struct fanout *fanout = arena_new(arena, struct fanout);
    *fanout =
        (struct fanout){.arena = arena, .events = *events, .owner = owner, .capacity = capacity};
    fanout->asks = arena_array(arena, struct ask, capacity);
    return fanout;
}

static int by_group_and_rank(const void *a, const void *b)
{
    const struct ask *ask_a = a;
    const struct ask *ask_b = b;
    if (ask_a->group != ask_b->group) {
        return ask_a->group < ask_b->group ? -1 : 1;
    }
    return (ask_a->rank > ask_b->rank) - (ask_a->rank < ask_b->rank);
}

/* The failures in (group, node) order, joined as the Go liaison joins them. */
static void join_failures(struct fanout *fanout, struct error *all)
{
    qsort(fanout->asks, fanout->asked, sizeof *fanout->asks, by_group_and_rank);
    for (size_t i = 0; i < fanout->asked; i++) {
        const struct error *failure = &fanout->asks[i].failure;
        if (failure->code == ERROR_NONE) {
            continue;
        }
        if (all->code == ERROR_NONE) {
            *all = *failure;
            continue;
        }
        struct error before = *all;
        error_set(all, before.code, "%s; %s", before.text, failure->text);
    }
}

static void complete_if_done(struct fanout *fanout)
{
    if (!fanout->sealed || fanout->open > 0) {
        return;
    }
    struct error failed = {.code = ERROR_NONE};
    join_failures(fanout, &failed);
    fanout->events.on_complete(fanout->owner, failed.code == ERROR_NONE ? NULL : &failed);
}

/* What the node said: an error text fails the call, whatever the status says. */
static bool take_answer(struct ask *ask, struct msg *msg, struct error *err)
{
    struct envelope envelope;
    if (!envelope_read(msg_bytes(msg), &envelope, err)) {
        return error_prefix(err, "node %s", ask->node);
    }
    if (envelope.error.len > 0) {
        return error_set(err, ERROR_UNKNOWN, "%.*s", (int)envelope.error.len,
                         (const char *)envelope.error.ptr);
    }
    const struct fanout *fanout = ask->fanout;
    return fanout->events.on_answer(fanout->owner, ask->group, ask->rank, msg, envelope.body,
                                    err) ||
           error_prefix(err, "node %s", ask->node);
}

static void on_node_answer(void *owner, struct msg *msg, const struct error *why)
{
    struct ask *ask = owner;
    struct fanout *fanout = ask->fanout;
    ask->call = NULL;
    assert(fanout->open > 0);
    fanout->open--;
    if (msg == NULL) {
        ask->failure = *why;
        if (!ask->refused) {
            ask->failure.code = ERROR_UNKNOWN; /* a node's code is not the client's */
        }
    } else if (take_answer(ask, msg, &ask->failure)) {
        ask->failure.code = ERROR_NONE;
    }
    msg_release(&msg);
    complete_if_done(fanout);
}

static bool on_admit(void *owner, size_t declared, struct error *err)
{
    struct ask *ask = owner;
    ask->refused = !ask->fanout->events.admit(ask->fanout->owner, declared, err);
    return !ask->refused || error_prefix(err, "node %s", ask->node);
}

void fanout_ask(struct fanout *fanout, size_t group, size_t rank, struct node *node,
                const struct node_call_options *call)
{
    struct node_call_options options = *call;
    options.admit = on_admit;
    assert(fanout->asked < fanout->capacity && !fanout->sealed);
    struct ask *ask = &fanout->asks[fanout->asked++];
    *ask = (struct ask){.fanout = fanout, .group = group, .rank = rank};
    ask->node = arena_strdup(fanout->arena, slice_str(node_name(node)));
    fanout->open++;
    ask->call = node_send(node, &options, on_node_answer, ask);
}

void fanout_seal(struct fanout *fanout)
{
    fanout->sealed = true;
    complete_if_done(fanout);
}

void fanout_close(struct fanout **fanout)
{
    struct fanout *closed = *fanout;
    *fanout = NULL;
    for (size_t i = 0; closed != NULL && i < closed->asked; i++) {
        node_call_cancel(&closed->asks[i].call);
    }
}

size_t fanout_open_calls(const struct fanout *fanout)
{
    return fanout == NULL ? 0 : fanout->open;
}
