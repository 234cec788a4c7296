// SPDX-License-Identifier: Apache-2.0
/* Every event ends in one of three functions: connect, go_up, go_down. */
#include "liaison/cluster/node.h"

#include "liaison/cluster/backoff.h"
#include "liaison/cluster/breaker.h"
#include "liaison/cluster/node_call.h"
#include "liaison/cluster/node_link.h"
#include "liaison/cluster/node_metrics.h"
#include "liaison/cluster/pulse.h"
#include "liaison/container_of.h"
#include "liaison/own.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#define MODULE           "CLUSTER.NODE"
#define FIRST_RETRY_MS   200
#define LAST_RETRY_MS    3000 /* a node that is back is used again soon */
#define BREAKER_RETRY_MS 1000
#define PATIENCE_NS      5000000000u /* a call that waited less says nothing about the node */

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
    struct node_link link;
    bool link_confirmed; /* a probe has succeeded on it */
    struct pulse pulse;
    struct loop_timer retry_timer;
    struct backoff backoff;
    struct breaker breaker;
    struct node_call_list calls;
    size_t call_count;
    struct node_metrics counts;
};

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
    pulse_stop(&node->pulse);
    node_link_close(&node->link, why);
    loop_timer_start(&node->retry_timer, backoff_next(&node->backoff));
    set_state(node, NODE_DOWN);
}

static void schedule_probe(struct node *node)
{
    const int64_t interval = node->setup.options->data_client_health_check_interval;
    if (interval > 0) {
        pulse_ask_later(&node->pulse, node->link.link, duration_ms(interval));
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
    pulse_stop(&node->pulse);
    node_link_retire(&node->link, false);
    loop_timer_start(&node->retry_timer, BREAKER_RETRY_MS);
    set_state(node, NODE_DOWN);
}

/* A node that falls silent gets no more calls; whether those in flight are lost is seen on the next
 * link. One that says that it does not serve may finish what it began. */
static void on_pulse(void *owner, const struct error *why)
{
    struct node *node = owner;
    if (why == NULL) {
        node->link_confirmed = true;
        node_link_trust(&node->link);
        go_up(node);
        return;
    }
    const bool silent = why->code == ERROR_DEADLINE_EXCEEDED;
    if (node->state == NODE_UP) {
        node_link_retire(&node->link, silent);
    } else if (silent) {
        node_link_fail(&node->link, why);
    }
    go_down(node, why);
}

/* Connecting */

/* False: it went down instead. */
static bool make_link(struct node *node)
{
    struct error why;
    node->link_confirmed = false;
    if (!node_link_connect(&node->link, &why)) {
        go_down(node, &why);
        return false;
    }
    return true;
}

static void on_ready(void *owner)
{
    struct node *node = owner;
    pulse_ask(&node->pulse, node->link.link);
}

/* The peer says goodbye: a second link takes over at once. Calls may wait for it to be ready. A
 * peer that says it before it was ever healthy gets the back-off instead. */
static void on_draining(void *owner)
{
    struct node *node = owner;
    struct error why;
    if (!node->link_confirmed) {
        error_set(&why, ERROR_UNAVAILABLE, "the node closes its connection (GOAWAY)");
        go_down(node, &why);
        return;
    }
    log_info(node->setup.log, MODULE, "data node drains its connection; node=%s",
             node->member.name);
    pulse_stop(&node->pulse);
    node_link_retire(&node->link, false);
    (void)make_link(node);
}

static void on_lost(void *owner, const struct error *why)
{
    struct node *node = owner;
    node_link_fail(&node->link, why);
    go_down(node, why);
}

static void run_retry_timer(struct loop_timer *timer)
{
    struct node *node = container_of(timer, struct node, retry_timer);
    if (make_link(node)) {
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
        pulse_ask(&node->pulse, node->link.link);
    }
}

struct link *node_call_next_link(struct node *node)
{
    node_link_sweep(&node->link);
    return node->state == NODE_UP ? node->link.link : NULL;
}

void node_call_ended(struct node *node, struct node_call *call, const struct error *why,
                     bool cancelled)
{
    TAILQ_REMOVE(&node->calls, call, entry);
    node->call_count--;
    node_metrics_ended(&node->counts, loop_now(node->setup.loop) - call->started);
    node_link_sweep(&node->link);
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
    call->log = node->setup.log;
    TAILQ_INSERT_TAIL(&node->calls, call, entry);
    node->call_count++;
    node_metrics_began(&node->counts);
    if (node->state == NODE_UP) {
        node_call_start(call, node->link.link, options, member_tier(&node->member));
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
    static const struct node_link_events link_events = {
        .on_ready = on_ready, .on_draining = on_draining, .on_lost = on_lost};
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
    node->link = (struct node_link){.setup = &node->setup,
                                    .address = node->member.address,
                                    .events = &link_events,
                                    .owner = node};
    node_link_init(&node->link);
    node->pulse = (struct pulse){
        .loop = setup->loop, .charge = setup->charge, .on_answer = on_pulse, .owner = node};
    pulse_init(&node->pulse);
    TAILQ_INIT(&node->calls);
    loop_timer_init(&node->retry_timer, setup->loop, run_retry_timer);
    node_metrics_init(&node->counts, setup->metrics, &node->member);
    loop_timer_start(&node->retry_timer, 0); /* from the loop, as whatever comes of it */
    return node;
}

static void reap(void *object)
{
    struct node *node = object;
    node_link_free_tls(&node->link);
    member_fini(&node->member);
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
    pulse_fini(&closed->pulse);
    loop_timer_fini(&closed->retry_timer);
    node_link_fini(&closed->link);
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
    return node_link_count(&node->link);
}
