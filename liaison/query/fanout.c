// SPDX-License-Identifier: Apache-2.0
/* Calls are slots of an array in the region, used again when their answers are in; a failed one
 * keeps its slot, to be told at the end. */
#include "liaison/query/fanout.h"

#include "frame/envelope.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

struct ask {
    struct fanout *fanout;  /* borrow: in the same region */
    struct ask *next_free;  /* borrow: likewise */
    struct node_call *call; /* own; NULL when answered */
    struct fanout_source source;
    bool refused;          /* its message was, by the fan-out's owner */
    struct error *failure; /* borrow: the region; NULL: answered, or still open */
};

struct fanout {
    struct arena *arena; /* borrow: outlives it */
    struct fanout_events events;
    void *owner; /* borrow: outlives it */
    size_t capacity;
    size_t used; /* slots that have ever been asked */
    size_t open;
    bool sealed;
    bool answering; /* inside on_answer: more may be asked */
    bool failed;
    struct ask *free; /* borrow: used slots whose answers are in */
    struct ask *asks; /* borrow: region */
};

struct fanout *fanout_open(struct arena *arena, size_t capacity, const struct fanout_events *events,
                           void *owner)
{
    struct fanout *fanout = arena_new(arena, struct fanout);
    /* One more: more is asked while the slot of the answer that is looked at is still taken. */
    *fanout = (struct fanout){
        .arena = arena, .events = *events, .owner = owner, .capacity = capacity + 1};
    fanout->asks = arena_array_raw(arena, struct ask, fanout->capacity);
    return fanout;
}

static int by_question_and_rank(const void *a, const void *b)
{
    const struct fanout_source *source_a = &((const struct ask *)a)->source;
    const struct fanout_source *source_b = &((const struct ask *)b)->source;
    if (source_a->question != source_b->question) {
        return source_a->question < source_b->question ? -1 : 1;
    }
    return (source_a->rank > source_b->rank) - (source_a->rank < source_b->rank);
}

/* The failures in (question, node) order, joined as the Go liaison joins them. */
static void join_failures(struct fanout *fanout, struct error *all)
{
    qsort(fanout->asks, fanout->used, sizeof *fanout->asks, by_question_and_rank);
    for (size_t i = 0; i < fanout->used; i++) {
        const struct error *failure = fanout->asks[i].failure;
        if (failure == NULL) {
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
    if (fanout->failed) {
        join_failures(fanout, &failed);
    }
    fanout->events.on_complete(fanout->owner, fanout->failed ? &failed : NULL);
}

/* What the node said: an error text fails the call, whatever the status says. */
static bool take_answer(struct ask *ask, struct msg *msg, struct error *err)
{
    struct fanout *fanout = ask->fanout;
    struct envelope envelope;
    if (!envelope_read(msg_bytes(msg), &envelope, err)) {
        return error_prefix(err, "node %s", ask->source.name);
    }
    if (envelope.error.len > 0) {
        return error_set(err, ERROR_UNKNOWN, "%.*s", (int)envelope.error.len,
                         (const char *)envelope.error.ptr);
    }
    fanout->answering = true;
    bool taken = fanout->events.on_answer(fanout->owner, &ask->source, msg, envelope.body, err);
    fanout->answering = false;
    return taken || error_prefix(err, "node %s", ask->source.name);
}

static void fail(struct ask *ask, const struct error *why)
{
    ask->failure = arena_new(ask->fanout->arena, struct error);
    *ask->failure = *why;
    ask->fanout->failed = true;
}

/* What a node or the way to it failed with: its code is not the client's. */
static void fail_call(struct ask *ask, const struct error *why)
{
    fail(ask, why);
    if (!ask->refused) {
        ask->failure->code = ERROR_UNKNOWN;
    }
}

static void on_node_answer(void *owner, struct msg *msg, const struct error *why)
{
    struct ask *ask = owner;
    struct fanout *fanout = ask->fanout;
    struct error err;
    ask->call = NULL;
    assert(fanout->open > 0);
    fanout->open--;
    if (msg == NULL) {
        fail_call(ask, why);
    } else if (!take_answer(ask, msg, &err)) {
        fail(ask, &err);
    } else {
        ask->next_free = fanout->free;
        fanout->free = ask;
    }
    msg_release(&msg);
    complete_if_done(fanout);
}

static bool on_admit(void *owner, size_t declared, struct error *err)
{
    struct ask *ask = owner;
    ask->refused = !ask->fanout->events.admit(ask->fanout->owner, declared, err);
    return !ask->refused || error_prefix(err, "node %s", ask->source.name);
}

static struct ask *take_slot(struct fanout *fanout)
{
    struct ask *ask = fanout->free;
    if (ask != NULL) {
        fanout->free = ask->next_free;
        return ask;
    }
    assert(fanout->used < fanout->capacity);
    return &fanout->asks[fanout->used++];
}

void fanout_ask(struct fanout *fanout, const struct fanout_source *source, struct node *node,
                const struct node_call_options *call)
{
    struct node_call_options options = *call;
    options.admit = on_admit;
    assert(!fanout->sealed || fanout->answering);
    struct ask *ask = take_slot(fanout);
    *ask = (struct ask){.fanout = fanout, .source = *source};
    if (node == NULL) {
        struct error why;
        error_set(&why, ERROR_UNKNOWN,
                  "failed to publish message to %s: client not found for node %s", source->name,
                  source->name);
        fail_call(ask, &why);
        return;
    }
    fanout->open++;
    ask->call = node_send(node, &options, on_node_answer, ask);
}

void fanout_seal(struct fanout *fanout)
{
    fanout->sealed = true;
    complete_if_done(fanout);
}

bool fanout_has_failed(const struct fanout *fanout)
{
    return fanout->failed;
}

void fanout_close(struct fanout **fanout)
{
    struct fanout *closed = *fanout;
    *fanout = NULL;
    for (size_t i = 0; closed != NULL && i < closed->used; i++) {
        node_call_cancel(&closed->asks[i].call);
    }
}

size_t fanout_open_calls(const struct fanout *fanout)
{
    return fanout == NULL ? 0 : fanout->open;
}
