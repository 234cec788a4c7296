// SPDX-License-Identifier: Apache-2.0
/* Ends in one of three ways: an answer, a status, a cancel; each gives the object to the reaper. */
#include "liaison/cluster/unary.h"

#include "liaison/own.h"

#include <stdlib.h>

struct unary {
    struct loop *loop; /* borrow */
    struct call *call; /* own; NULL after the end */
    struct msg *msg;   /* pin: the answer, while the status is awaited */
    bool status_is_theirs;
    struct unary_options options;
};

static void reap(void *object)
{
    struct unary *unary = object;
    msg_release(&unary->msg);
    free(unary);
}

/* From here on nothing comes any more. */
static void finish(struct unary *unary)
{
    call_cancel(&unary->call);
    loop_reap(unary->loop, unary, reap);
}

static void answer(struct unary *unary, const struct error *why)
{
    struct msg *msg = unary->msg;
    unary->msg = NULL;
    if (why != NULL) {
        msg_release(&msg);
    }
    unary->options.on_answer(unary->options.owner, msg, why);
}

static void on_message(void *owner, struct call *call, struct msg *msg)
{
    struct unary *unary = owner;
    (void)call;
    if (unary->msg != NULL) {
        msg_release(&msg); /* a second answer to one request: the first one counts */
        return;
    }
    unary->msg = msg;
    if (unary->options.first_message_is_enough) {
        finish(unary);
        answer(unary, NULL);
    }
}

static bool admit(void *owner, size_t declared, struct slice head, struct error *err)
{
    const struct unary *unary = owner;
    return unary->options.call.admit(unary->options.owner, declared, head, err);
}

static struct call_options call_options(const struct unary *unary)
{
    struct call_options call = unary->options.call;
    call.admit = call.admit == NULL ? NULL : admit;
    return call;
}

/* Over the next link, if nothing of it has left. */
static bool go_on(struct unary *unary, struct call *call)
{
    const struct unary_options *options = &unary->options;
    struct link *next = call_is_unsent(call) && options->next_link != NULL
                            ? options->next_link(options->owner)
                            : NULL;
    if (next == NULL) {
        return false;
    }
    const struct call_options again = call_options(unary);
    unary->call = call_resend(call, next, &again);
    return true;
}

static void on_end(void *owner, struct call *call, const struct error *status)
{
    struct unary *unary = owner;
    struct error eof;
    if (go_on(unary, call)) {
        return;
    }
    unary->status_is_theirs = call_status_is_theirs(call);
    unary->call = NULL;
    finish(unary);
    if (status->code != ERROR_NONE) {
        answer(unary, status);
    } else if (unary->msg == NULL) {
        error_set(&eof, ERROR_UNAVAILABLE, "EOF");
        answer(unary, &eof);
    } else {
        answer(unary, NULL);
    }
}

struct unary *unary_open(struct loop *loop, struct link *link, const struct unary_options *options)
{
    static const struct call_events events = {.on_message = on_message, .on_end = on_end};
    struct unary *unary = own_array(1, sizeof *unary);
    unary->loop = loop;
    unary->options = *options;
    const struct call_options call = call_options(unary);
    unary->call = call_open(link, &call, &events, unary);
    call_send(unary->call, options->request, true);
    return unary;
}

bool unary_status_is_theirs(const struct unary *unary)
{
    return unary->status_is_theirs;
}

void unary_cancel(struct unary **unary)
{
    if (*unary != NULL) {
        finish(*unary);
        *unary = NULL;
    }
}
