// SPDX-License-Identifier: Apache-2.0
/*
 * A node has at most one link that takes calls, and any number of older ones that only finish what
 * they began. Every event ends in one of three functions: connect, go_up, go_down.
 */
#include "liaison/cluster/node.h"

#include "liaison/cluster/backoff.h"
#include "liaison/cluster/breaker.h"
#include "liaison/cluster/node_call.h"
#include "liaison/cluster/node_metrics.h"
#include "liaison/cluster/old_links.h"
#include "liaison/cluster/probe.h"
#include "liaison/cluster/trust.h"
#include "liaison/own.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#define MODULE           "CLUSTER.NODE"
#define PROBE_TIMEOUT_MS 2000
#define FIRST_RETRY_MS   200
#define LAST_RETRY_MS    3000 /* a node that is back is used again soon */
#define BREAKER_RETRY_MS 1000
#define LEAST_MESSAGE    ((size_t)256 << 20) /* of an answer, whatever the query budget */
#define PATIENCE_NS      5000000000u /* a call that waited less says nothing about the node */

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

struct node {
    struct node_setup setup;
    struct member member; /* own */
    enum node_state state;
    struct error why;        /* of not being UP */
    struct error last_error; /* likewise; stays when it is UP again */
    int64_t last_error_at;
    int64_t since; /* ns since the epoch: of this state */
    int64_t down_at;
    unsigned frame_version; /* of its last answer; 0 = none yet */
    struct link *link;      /* own; NULL when DOWN */
    struct ssl_ctx_st *tls; /* own; of the last connection */
    bool link_confirmed;    /* a probe has succeeded on it */
    struct old_links old_links;
    struct unary *probe; /* own; NULL = none on its way */
    struct loop_timer probe_timer;
    struct loop_timer retry_timer;
    struct backoff backoff;
    struct breaker breaker;
    struct node_call_list calls;
    size_t call_count;
    struct node_metrics counts;
};

static bool connect_link(struct node *node);

static const char *tier(const struct node *node)
{
    const char *type = member_label(&node->member, "type");
    return type == NULL ? "" : type;
}

/* The last thing that a handler does: the owner may close the node in it. */
static void set_state(struct node *node, enum node_state state)
{
    const bool was_up = node->state == NODE_UP;
    if (node->state == state) {
        return;
    }
    node->state = state;
    node->since = loop_wall_ns();
    if (was_up != (state == NODE_UP)) {
        node_metrics_up(&node->counts, !was_up);
    }
    if (node->setup.on_state != NULL) {
        node->setup.on_state(node->setup.owner, node);
    }
}

/* The current link only finishes what it began. */
static void retire_link(struct node *node)
{
    struct link *link = node->link;
    node->link = NULL;
    unary_cancel(&node->probe);
    old_links_add(&node->old_links, link);
}

/* Down and up */

static void note_down(struct node *node, const struct error *why)
{
    if (node->why.code == ERROR_NONE || strcmp(node->why.text, why->text) != 0) {
        log_warn(node->setup.log, MODULE, "data node is down; node=%s address=%s error=%s",
                 node->member.name, node->member.address, why->text);
    }
    node->why = *why;
    node->down_at = loop_wall_ns();
    node->last_error_at = node->down_at;
    node->last_error = *why;
}

static void go_down(struct node *node, const struct error *why)
{
    note_down(node, why);
    breaker_probe_failed(&node->breaker);
    loop_timer_stop(&node->probe_timer);
    unary_cancel(&node->probe);
    if (node->link != NULL) {
        link_close(&node->link);
    }
    loop_timer_start(&node->retry_timer, backoff_next(&node->backoff));
    set_state(node, NODE_DOWN);
}

static void schedule_probe(struct node *node)
{
    const int64_t interval = node->setup.options->data_client_health_check_interval;
    if (interval > 0) {
        loop_timer_start(&node->probe_timer, duration_ms(interval));
    }
}

static void go_up(struct node *node)
{
    schedule_probe(node);
    breaker_probe_worked(&node->breaker);
    if (node->state == NODE_UP) {
        return;
    }
    log_info(node->setup.log, MODULE, "data node is up; node=%s address=%s", node->member.name,
             node->member.address);
    node->down_at = node->down_at == 0 ? 0 : loop_wall_ns();
    node->why = (struct error){0};
    backoff_reset(&node->backoff);
    set_state(node, NODE_UP);
}

/* It answers health checks but not queries: no new calls for a while; those in flight may go on. */
static void open_breaker(struct node *node)
{
    struct error why;
    error_set(&why, ERROR_UNAVAILABLE,
              "circuit breaker open for node %s: %u queries in a row were not answered",
              node->member.name, node->breaker.failures);
    note_down(node, &why);
    loop_timer_stop(&node->probe_timer);
    if (node->link != NULL) {
        retire_link(node);
    }
    loop_timer_start(&node->retry_timer, BREAKER_RETRY_MS);
    set_state(node, NODE_DOWN);
}

/* Probes */

static void on_probe(void *owner, struct msg *msg, const struct error *why)
{
    struct node *node = owner;
    struct error err;
    node->probe = NULL;
    const bool serving = probe_is_serving(msg, why, &err);
    msg_release(&msg);
    if (serving) {
        node->link_confirmed = true;
        go_up(node);
    } else {
        go_down(node, &err);
    }
}

static void probe(struct node *node)
{
    if (node->probe != NULL || node->link == NULL) {
        return;
    }
    loop_timer_stop(&node->probe_timer);
    node->probe = probe_ask(node->setup.loop, node->link,
                            &(struct probe_options){.timeout_ms = PROBE_TIMEOUT_MS,
                                                    .charge = node->setup.charge,
                                                    .on_answer = on_probe,
                                                    .owner = node});
}

static void run_probe_timer(struct loop_timer *timer)
{
    probe(container_of(timer, struct node, probe_timer));
}

/* Connecting */

/* The peer says goodbye: a second link takes over at once. Calls may wait for it to be ready. A
 * peer that says it before it was ever healthy gets the back-off instead. */
static void on_draining(struct node *node)
{
    struct error why;
    if (!node->link_confirmed) {
        error_set(&why, ERROR_UNAVAILABLE, "the node closes its connection (GOAWAY)");
        go_down(node, &why);
        return;
    }
    log_info(node->setup.log, MODULE, "data node drains its connection; node=%s",
             node->member.name);
    retire_link(node);
    (void)connect_link(node);
}

static void on_link(void *owner, struct link *link, enum link_state state, const struct error *why)
{
    struct node *node = owner;
    if (link != node->link) {
        if (state == LINK_CLOSED) {
            old_links_drop(&node->old_links, link);
        }
        return;
    }
    switch (state) {
    case LINK_CONNECTING:
        break;
    case LINK_READY:
        probe(node);
        break;
    case LINK_DRAINING:
        on_draining(node);
        break;
    case LINK_CLOSED:
        go_down(node, why);
        break;
    }
}

/* False: it went down instead. */
static bool connect_link(struct node *node)
{
    static const struct link_events events = {.on_state = on_link};
    const struct options *options = node->setup.options;
    const size_t budget = (size_t)options->measure_vectorized_query_memory_mib << 20;
    struct error why;
    node->link_confirmed = false;
    if (!trust_renew(&node->tls, options->data_client_tls, options->data_client_ca_cert, &why)) {
        go_down(node, &why);
        return false;
    }
    node->link = link_open(node->setup.loop,
                           &(struct link_options){.address = node->member.address,
                                                  .tls = node->tls,
                                                  .connect_timeout_ms = PROBE_TIMEOUT_MS,
                                                  .max_message_bytes = MAX(budget, LEAST_MESSAGE),
                                                  .charge = node->setup.charge,
                                                  .live = node->setup.live},
                           &events, node);
    return true;
}

static void run_retry_timer(struct loop_timer *timer)
{
    struct node *node = container_of(timer, struct node, retry_timer);
    if (connect_link(node)) {
        set_state(node, NODE_PROBING);
    }
}

/* Calls */

/* Not answered, though there was time: a client's short deadline says nothing about the node. */
static bool is_unanswered(const struct node *node, const struct node_call *call,
                          const struct error *why)
{
    const uint64_t waited = loop_now(node->setup.loop) - call->started;
    const uint64_t patience =
        MIN((uint64_t)node->setup.options->dst_broadcast_timeout, PATIENCE_NS);
    return why->code == ERROR_DEADLINE_EXCEEDED && waited >= patience;
}

static void judge(struct node *node, const struct node_call *call, const struct error *why)
{
    if (why == NULL) {
        breaker_worked(&node->breaker);
        return;
    }
    node_metrics_failed(&node->counts, call->refused ? "server_rejected" : "recv_error");
    if (node->state != NODE_UP || !is_unanswered(node, call, why)) {
        return;
    }
    if (breaker_failed(&node->breaker)) {
        open_breaker(node);
    } else {
        probe(node);
    }
}

void node_call_ended(struct node *node, struct node_call *call, const struct error *why,
                     bool cancelled)
{
    TAILQ_REMOVE(&node->calls, call, entry);
    node->call_count--;
    node_metrics_ended(&node->counts, loop_now(node->setup.loop) - call->started);
    old_links_sweep(&node->old_links);
    if (!cancelled) {
        judge(node, call, why);
    }
}

struct node_call *
node_send(struct node *node, const struct node_call_options *options,
          void (*on_answer)(void *owner, struct msg *msg, const struct error *why), void *owner)
{
    struct error why;
    struct node_call *call = node_call_new(node->setup.loop, options, on_answer, owner);
    call->node = node;
    TAILQ_INSERT_TAIL(&node->calls, call, entry);
    node->call_count++;
    node_metrics_began(&node->counts);
    if (node->state == NODE_UP) {
        node_call_start(call, node->link, options, tier(node));
        return call;
    }
    error_set(&why, ERROR_UNAVAILABLE,
              node->breaker.state == BREAKER_OPEN
                  ? "failed to publish message to %s: circuit breaker open for node %s"
                  : "failed to publish message to %s: client not found for node %s",
              node->member.name, node->member.name);
    node_call_fail(call, &why);
    return call;
}

/* Life */

struct node *node_open(const struct node_setup *setup, const struct member *member)
{
    struct node *node = own_array(1, sizeof *node);
    node->setup = *setup;
    member_copy(member, &node->member);
    node->state = NODE_PROBING;
    node->since = loop_wall_ns();
    node->backoff = (struct backoff){.first_ms = FIRST_RETRY_MS,
                                     .max_ms = LAST_RETRY_MS,
                                     .factor = 2,
                                     .jitter_percent = 20,
                                     .seed = loop_now(setup->loop) ^ (uintptr_t)node};
    old_links_init(&node->old_links, setup->loop);
    TAILQ_INIT(&node->calls);
    loop_timer_init(&node->probe_timer, setup->loop, run_probe_timer);
    loop_timer_init(&node->retry_timer, setup->loop, run_retry_timer);
    node_metrics_init(&node->counts, setup->metrics, &node->member);
    loop_timer_start(&node->retry_timer, 0); /* from the loop, as whatever comes of it */
    return node;
}

static void reap(void *object)
{
    struct node *node = object;
    member_fini(&node->member);
    tls_free(&node->tls);
    free(node);
}

/* Before the links go, so that every call ends with this text, and after its node. */
static void end_calls(struct node *node)
{
    struct error why;
    error_set(&why, ERROR_UNAVAILABLE,
              "rpc error: code = Canceled desc = grpc: the client connection is closing");
    while (!TAILQ_EMPTY(&node->calls)) {
        struct node_call *call = TAILQ_FIRST(&node->calls);
        TAILQ_REMOVE(&node->calls, call, entry);
        call->node = NULL;
        node->call_count--;
        node_metrics_ended(&node->counts, loop_now(node->setup.loop) - call->started);
        node_call_fail(call, &why);
    }
}

void node_close(struct node **node)
{
    struct node *closed = *node;
    *node = NULL;
    if (closed == NULL) {
        return;
    }
    end_calls(closed);
    unary_cancel(&closed->probe);
    loop_timer_fini(&closed->probe_timer);
    loop_timer_fini(&closed->retry_timer);
    if (closed->link != NULL) {
        link_close(&closed->link);
    }
    old_links_fini(&closed->old_links);
    if (closed->state == NODE_UP) {
        node_metrics_up(&closed->counts, false);
    }
    loop_reap(closed->setup.loop, closed, reap);
}

const char *node_name(const struct node *node)
{
    return node->member.name;
}

const char *node_address(const struct node *node)
{
    return node->member.address;
}

enum node_state node_state(const struct node *node)
{
    return node->state;
}

bool node_takes_calls(const struct node *node)
{
    const bool on_trial = node->breaker.state == BREAKER_HALF_OPEN && node->call_count > 0;
    return node->state == NODE_UP && !on_trial;
}

void node_answered(struct node *node, unsigned frame_version)
{
    node->frame_version = frame_version;
}

struct node_report node_report(const struct node *node)
{
    return (struct node_report){
        .state = node->state,
        .since = node->since,
        .last_error = node->last_error,
        .last_error_at = node->last_error_at,
        .breaker = breaker_name(&node->breaker),
        .calls = node->call_count,
        .frame_version = node->frame_version,
    };
}

const char *node_last_error(const struct node *node)
{
    return node->state == NODE_UP ? "" : node->why.text;
}

int64_t node_down_at(const struct node *node)
{
    return node->down_at;
}

size_t node_calls(const struct node *node)
{
    return node->call_count;
}

size_t node_links(const struct node *node)
{
    return old_links_count(&node->old_links) + (node->link == NULL ? 0 : 1);
}
