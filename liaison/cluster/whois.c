// SPDX-License-Identifier: Apache-2.0
/* A failed health check costs its connection; the next try makes a new one. */
#include "liaison/cluster/whois.h"

#include "liaison/cluster/probe.h"
#include "liaison/container_of.h"
#include "liaison/own.h"
#include "proto/message_read.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_MS      500
#define MESSAGE_BYTES ((size_t)4 << 20)

struct whois {
    struct whois_setup setup;
    char *address;       /* own */
    struct link *link;   /* own; NULL between two tries */
    struct unary *unary; /* own; NULL between two tries */
    struct loop_timer patience;
    struct loop_timer retry;
    uint64_t deadline;
    struct error why; /* of the last failed try */
};

static void reap(void *object)
{
    struct whois *whois = object;
    free(whois->address);
    free(whois);
}

static void drop_link(struct whois *whois)
{
    unary_cancel(&whois->unary);
    if (whois->link != NULL) {
        link_close(&whois->link);
    }
}

void whois_close(struct whois **whois)
{
    struct whois *closed = *whois;
    *whois = NULL;
    if (closed == NULL) {
        return;
    }
    drop_link(closed);
    loop_timer_fini(&closed->patience);
    loop_timer_fini(&closed->retry);
    loop_reap(closed->setup.loop, closed, reap);
}

static void finish(struct whois *whois, Banyandb__Database__V1__Node *node, const struct error *why)
{
    const struct whois_setup setup = whois->setup;
    struct whois *closed = whois;
    struct error kept;
    if (why != NULL) {
        kept = *why;
    }
    whois_close(&closed);
    setup.on_answer(setup.owner, node, why == NULL ? NULL : &kept);
}

static void run_patience(struct loop_timer *timer)
{
    struct whois *whois = container_of(timer, struct whois, patience);
    struct error why;
    error_set(&why, ERROR_DEADLINE_EXCEEDED, "no answer from %s within %llu ms%s%s", whois->address,
              (unsigned long long)whois->setup.timeout_ms, whois->why.text[0] == '\0' ? "" : ": ",
              whois->why.text);
    finish(whois, NULL, &why);
}

/* The second question */

/* Takes the node out of the answer. */
static Banyandb__Database__V1__Node *read_node(const struct msg *msg)
{
    Banyandb__Database__V1__GetCurrentNodeResponse *answer =
        (Banyandb__Database__V1__GetCurrentNodeResponse *)message_read(
            msg_bytes(msg), &banyandb__database__v1__get_current_node_response__descriptor, NULL);
    if (answer == NULL) {
        return NULL;
    }
    Banyandb__Database__V1__Node *node = answer->node;
    answer->node = NULL;
    banyandb__database__v1__get_current_node_response__free_unpacked(answer, NULL);
    return node;
}

static void on_node(void *owner, struct msg *msg, const struct error *why)
{
    struct whois *whois = owner;
    struct error err;
    whois->unary = NULL;
    if (why != NULL) {
        error_set(&err, why->code, "GetCurrentNode: %s", why->text);
        finish(whois, NULL, &err);
        return;
    }
    Banyandb__Database__V1__Node *node = read_node(msg);
    msg_release(&msg);
    if (node == NULL || node->metadata == NULL || node->metadata->name[0] == '\0') {
        if (node != NULL) {
            banyandb__database__v1__node__free_unpacked(node, NULL);
        }
        error_set(&err, ERROR_INTERNAL, "GetCurrentNode: the answer of %s names no node",
                  whois->address);
        finish(whois, NULL, &err);
        return;
    }
    finish(whois, node, NULL);
}

static void ask_node(struct whois *whois)
{
    const struct unary_options unary = {
        .call = {.path = "/banyandb.database.v1.NodeQueryService/GetCurrentNode",
                 .deadline = whois->deadline,
                 .charge = whois->setup.charge},
        .on_answer = on_node,
        .owner = whois,
    };
    whois->unary = unary_open(whois->setup.loop, whois->link, &unary);
}

/* The first question */

static void fail_try(struct whois *whois, const struct error *why)
{
    whois->why = *why;
    drop_link(whois);
    loop_timer_start(&whois->retry, RETRY_MS);
}

static void on_health(void *owner, struct msg *msg, const struct error *why)
{
    struct whois *whois = owner;
    whois->unary = NULL;
    if (why != NULL) {
        fail_try(whois, why);
        return;
    }
    msg_release(&msg); /* not looked at: that it answers is enough */
    ask_node(whois);
}

static void begin_try(struct whois *whois)
{
    whois->link = link_open(whois->setup.loop,
                            &(struct link_options){.address = whois->address,
                                                   .tls = whois->setup.tls,
                                                   .tls_switch = whois->setup.tls_switch,
                                                   .connect_timeout_ms = whois->setup.timeout_ms,
                                                   .max_message_bytes = MESSAGE_BYTES,
                                                   .charge = whois->setup.charge,
                                                   .live = whois->setup.live},
                            &(struct link_events){0}, whois);
    whois->unary = probe_ask(whois->setup.loop, whois->link,
                             &(struct probe_options){.timeout_ms = whois->setup.timeout_ms,
                                                     .with_credentials = true,
                                                     .charge = whois->setup.charge,
                                                     .on_answer = on_health,
                                                     .owner = whois});
}

static void run_retry(struct loop_timer *timer)
{
    begin_try(container_of(timer, struct whois, retry));
}

struct whois *whois_open(const struct whois_setup *setup)
{
    struct whois *whois = own_array(1, sizeof *whois);
    whois->setup = *setup;
    whois->address = own_text(setup->address);
    whois->deadline = loop_now(setup->loop) + setup->timeout_ms * 1000000;
    loop_timer_init(&whois->patience, setup->loop, run_patience);
    loop_timer_init(&whois->retry, setup->loop, run_retry);
    loop_timer_start(&whois->patience, setup->timeout_ms);
    begin_try(whois);
    return whois;
}
