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
    struct loop *loop;   /* borrow: outlives it */
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

struct fanout *fanout_open(struct loop *loop, struct arena *arena, size_t capacity,
                           const struct fanout_events *events, void *owner)
{
    struct fanout *fanout = arena_new(arena, struct fanout);
    /* One more: more is asked while the slot of the answer that is looked at is still taken. */
    *fanout = (struct fanout){
        .loop = loop, .arena = arena, .events = *events, .owner = owner, .capacity = capacity + 1};
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

static bool hand_over(struct ask *ask, struct msg *msg, struct slice body, struct error *err)
{
    struct fanout *fanout = ask->fanout;
    fanout->answering = true;
    bool taken = fanout->events.on_answer(fanout->owner, &ask->source, msg, body, err);
    fanout->answering = false;
    return taken || error_prefix(err, "node %s", ask->source.name);
}

/* What the node said: an error text fails the call, whatever the status says. */
static bool take_answer(struct ask *ask, struct msg *msg, struct error *err)
{
    struct envelope envelope;
    if (!envelope_read(msg_bytes(msg), &envelope, err)) {
        return error_prefix(err, "node %s", ask->source.name);
    }
    if (envelope.error.len > 0) {
        return error_set(err, ERROR_UNKNOWN, "%.*s", (int)envelope.error.len,
                         (const char *)envelope.error.ptr);
    }
    return hand_over(ask, msg, envelope.body, err);
}

/* The way to the node broke or took too long: nothing that the node itself has said. A call that
 * nobody here cancelled was cancelled by a server that goes. One that ends the call without a word
 * (EOF) is there, and has no answer. */
static bool is_lost(const struct ask *ask, const struct error *why)
{
    if (ask->refused) {
        return false;
    }
    return why->code == ERROR_DEADLINE_EXCEEDED || why->code == ERROR_CANCELLED ||
           (why->code == ERROR_UNAVAILABLE && strcmp(why->text, "EOF") != 0);
}

/* Its code is not the client's, but for what the fan-out's owner said himself. */
static bool take_failure(struct ask *ask, const struct error *why, struct error *err)
{
    struct fanout *fanout = ask->fanout;
    *err = *why;
    if (!ask->refused) {
        err->code = ERROR_UNKNOWN;
    }
    return is_lost(ask, why) && fanout->events.on_lost(fanout->owner, &ask->source, err) &&
           hand_over(ask, NULL, slice_of("", 0), err);
}

static void fail(struct ask *ask, const struct error *why)
{
    ask->failure = arena_new(ask->fanout->arena, struct error);
    *ask->failure = *why;
    ask->fanout->failed = true;
}

/* Its call has ended: the next one may have it. */
static void free_slot(struct ask *ask)
{
    ask->next_free = ask->fanout->free;
    ask->fanout->free = ask;
}

static void on_node_answer(void *owner, struct msg *msg, const struct error *why)
{
    struct ask *ask = owner;
    struct fanout *fanout = ask->fanout;
    struct error err;
    ask->call = NULL;
    assert(fanout->open > 0);
    fanout->open--;
    if (msg == NULL ? take_failure(ask, why, &err) : take_answer(ask, msg, &err)) {
        free_slot(ask);
    } else {
        fail(ask, &err);
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
    fanout->open++;
    ask->call = node == NULL
                    ? node_call_missing(fanout->loop, source->name, &options, on_node_answer, ask)
                    : node_send(node, &options, on_node_answer, ask);
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

void fanout_mark_open(const struct fanout *fanout, bool *marks)
{
    for (size_t i = 0; i < fanout->used; i++) {
        if (fanout->asks[i].call != NULL) {
            marks[fanout->asks[i].source.rank] = true;
        }
    }
}

void fanout_mark_open_of(const struct fanout *fanout, size_t question, bool *marks)
{
    for (size_t i = 0; i < fanout->used; i++) {
        const struct ask *ask = &fanout->asks[i];
        if (ask->call != NULL && ask->source.question == question) {
            marks[ask->source.rank] = true;
        }
    }
}

static void cancel_open(struct fanout *fanout)
{
    for (size_t i = 0; i < fanout->used; i++) {
        node_call_cancel(&fanout->asks[i].call);
    }
    fanout->open = 0;
}

void fanout_abandon(struct fanout *fanout)
{
    assert(fanout->answering);
    cancel_open(fanout);
}

void fanout_abandon_of(struct fanout *fanout, size_t question)
{
    assert(fanout->answering);
    for (size_t i = 0; i < fanout->used; i++) {
        struct ask *ask = &fanout->asks[i];
        if (ask->call != NULL && ask->source.question == question) {
            node_call_cancel(&ask->call);
            fanout->open--;
            free_slot(ask);
        }
    }
}

void fanout_close(struct fanout **fanout)
{
    if (*fanout != NULL) {
        cancel_open(*fanout);
        *fanout = NULL;
    }
}

size_t fanout_open_calls(const struct fanout *fanout)
{
    return fanout == NULL ? 0 : fanout->open;
}
