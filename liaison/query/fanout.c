// SPDX-License-Identifier: Apache-2.0
/* Calls are slots of an array in the region, used again when their answers are in; a failed one
 * keeps its slot, to be told at the end. A call is open until its answer is being taken in. */
#include "liaison/query/fanout.h"

#include "frame/envelope.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define ANSWER_STEPS 64 /* what any answer costs */

struct ask {
    struct fanout *fanout;  /* borrow: in the same region */
    struct ask *next_free;  /* borrow: likewise */
    struct node_call *call; /* own; NULL when answered */
    struct fanout_source source;
    STAILQ_ENTRY(ask) waiting; /* while is_waiting */
    bool is_waiting;
    struct msg *msg; /* pin: from then on until it is taken in; NULL: the node was lost */
    struct slice body;
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
    STAILQ_HEAD(, ask) waiting;
    struct ask *current; /* borrow: the one that is being taken in; more may be asked meanwhile */
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
    STAILQ_INIT(&fanout->waiting);
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

/* True: the fan-out may be gone. */
static bool complete_if_done(struct fanout *fanout)
{
    if (!fanout->sealed || fanout->open > 0 || fanout->current != NULL) {
        return false;
    }
    struct error failed = {.code = ERROR_NONE};
    if (fanout->failed) {
        join_failures(fanout, &failed);
    }
    fanout->events.on_complete(fanout->owner, fanout->failed ? &failed : NULL);
    return true;
}

/* What the node said: an error text fails the call, whatever the status says. */
static bool read_answer(struct ask *ask, struct msg *msg, struct error *err)
{
    struct envelope envelope;
    if (!envelope_read(msg_bytes(msg), &envelope, err)) {
        return error_prefix(err, "node %s", ask->source.name);
    }
    if (envelope.error.len > 0) {
        return error_set(err, ERROR_UNKNOWN, "%.*s", (int)envelope.error.len,
                         (const char *)envelope.error.ptr);
    }
    ask->msg = msg_retain(msg);
    ask->body = envelope.body;
    return true;
}

/* The node ended the call without a word. */
static bool is_silence(const struct error *why)
{
    return why->code == ERROR_UNAVAILABLE && strcmp(why->text, "EOF") == 0;
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
           (why->code == ERROR_UNAVAILABLE && !is_silence(why));
}

/* Its code is not the client's, but for what the fan-out's owner said himself. */
static bool read_failure(struct ask *ask, const struct error *why, struct error *err)
{
    struct fanout *fanout = ask->fanout;
    *err = *why;
    if (!ask->refused) {
        err->code = ERROR_UNKNOWN;
    }
    if (is_silence(why)) {
        error_set(err, err->code, "node %s ended the call without an answer (EOF)",
                  ask->source.name);
    }
    ask->body = slice_of("", 0);
    return is_lost(ask, why) && fanout->events.on_lost(fanout->owner, &ask->source, err);
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
    const bool waits = msg == NULL ? read_failure(ask, why, &err) : read_answer(ask, msg, &err);
    msg_release(&msg);
    if (waits) {
        ask->is_waiting = true;
        STAILQ_INSERT_TAIL(&fanout->waiting, ask, waiting);
        fanout->events.on_waiting(fanout->owner);
        return;
    }
    fail(ask, &err);
    assert(fanout->open > 0);
    fanout->open--;
    complete_if_done(fanout);
}

static enum progress begin_next(struct fanout *fanout, struct error *err)
{
    struct ask *ask = STAILQ_FIRST(&fanout->waiting);
    STAILQ_REMOVE_HEAD(&fanout->waiting, waiting);
    assert(fanout->open > 0);
    fanout->open--;
    ask->is_waiting = false;
    fanout->current = ask;
    return fanout->events.on_answer(fanout->owner, &ask->source, ask->msg, ask->body, err)
               ? PROGRESS_MORE
               : PROGRESS_FAILED;
}

static void end_current(struct fanout *fanout, enum progress progress, struct error *err)
{
    struct ask *ask = fanout->current;
    msg_release(&ask->msg);
    if (progress == PROGRESS_DONE) {
        free_slot(ask);
    } else {
        error_prefix(err, "node %s", ask->source.name);
        fail(ask, err);
    }
    fanout->current = NULL;
}

bool fanout_take(struct fanout *fanout, size_t *left)
{
    struct error err;
    while (fanout_is_waiting(fanout) && *left > 0) {
        enum progress progress = fanout->current == NULL ? begin_next(fanout, &err) : PROGRESS_MORE;
        if (progress == PROGRESS_MORE) {
            progress = fanout->events.on_take(fanout->owner, &fanout->current->source, left, &err);
        }
        if (progress == PROGRESS_MORE) {
            return true;
        }
        end_current(fanout, progress, &err);
        if (complete_if_done(fanout)) {
            return false;
        }
    }
    return fanout_is_waiting(fanout);
}

bool fanout_is_waiting(const struct fanout *fanout)
{
    return fanout->current != NULL || !STAILQ_EMPTY(&fanout->waiting);
}

static bool on_admit(void *owner, size_t declared, struct slice head, struct error *err)
{
    struct ask *ask = owner;
    const struct fanout *fanout = ask->fanout;
    ask->refused = !fanout->events.admit(fanout->owner, &ask->source, declared, head, err);
    return !ask->refused;
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
    options.charge = fanout->arena->charge;
    assert(!fanout->sealed || fanout->current != NULL);
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

static bool is_open(const struct ask *ask)
{
    return ask->call != NULL || ask->is_waiting;
}

void fanout_mark_open(const struct fanout *fanout, bool *marks)
{
    for (size_t i = 0; i < fanout->used; i++) {
        if (is_open(&fanout->asks[i])) {
            marks[fanout->asks[i].source.rank] = true;
        }
    }
}

void fanout_mark_open_of(const struct fanout *fanout, size_t question, bool *marks)
{
    for (size_t i = 0; i < fanout->used; i++) {
        const struct ask *ask = &fanout->asks[i];
        if (is_open(ask) && ask->source.question == question) {
            marks[ask->source.rank] = true;
        }
    }
}

// NOLINTNEXTLINE(readability-function-*): the nesting is the list macro's
static void unlink_waiting(struct ask *ask)
{
    STAILQ_REMOVE(&ask->fanout->waiting, ask, ask, waiting);
    ask->is_waiting = false;
    msg_release(&ask->msg);
}

static void give_up(struct ask *ask)
{
    node_call_cancel(&ask->call);
    if (ask->is_waiting) {
        unlink_waiting(ask);
    }
    ask->fanout->open--;
}

static void give_up_open(struct fanout *fanout)
{
    for (size_t i = 0; i < fanout->used; i++) {
        if (is_open(&fanout->asks[i])) {
            give_up(&fanout->asks[i]);
        }
    }
}

void fanout_abandon(struct fanout *fanout)
{
    assert(fanout->current != NULL);
    give_up_open(fanout);
}

void fanout_abandon_of(struct fanout *fanout, size_t question)
{
    assert(fanout->current != NULL);
    for (size_t i = 0; i < fanout->used; i++) {
        struct ask *ask = &fanout->asks[i];
        if (is_open(ask) && ask->source.question == question) {
            give_up(ask);
            free_slot(ask);
        }
    }
}

void fanout_close(struct fanout **fanout)
{
    struct fanout *closed = *fanout;
    *fanout = NULL;
    if (closed == NULL) {
        return;
    }
    give_up_open(closed);
    if (closed->current != NULL) {
        msg_release(&closed->current->msg);
    }
}

size_t fanout_open_calls(const struct fanout *fanout)
{
    return fanout == NULL ? 0 : fanout->open;
}
