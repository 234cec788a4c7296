// SPDX-License-Identifier: Apache-2.0
/* The table of methods, and jobs on their way to the executors and back. */
#include "liaison/edge/edge.h"

#include "liaison/container_of.h"
#include "liaison/edge/admission.h"
#include "liaison/edge/certificate.h"
#include "liaison/edge/cluster_state.h"
#include "liaison/edge/current_node.h"
#include "liaison/edge/health.h"
#include "liaison/edge/measure.h"
#include "liaison/own.h"

#include <stdlib.h>

#define MODULE            "GRPC"
#define MAX_STREAMS       1000
#define IDLE_LOOKS        4 /* one each PUBLISH_MS */
#define PUBLISH_MS        500
#define SMALL_REQUEST     ((size_t)64 << 10)
#define MISMATCH_EVERY_NS 60000000000u /* between two lines of the log */

static const struct service_method *const services[] = {
    measure_methods,      health_methods,      cluster_state_methods,
    current_node_methods, api_version_methods, NULL,
};

struct edge {
    struct edge_setup setup;
    struct server *server;           /* own */
    struct certificate *certificate; /* own; NULL: clear text */
    struct admission *admission;     /* own */
    struct health health;
    int64_t started_at;          /* ns since the epoch */
    struct metrics_shard *shard; /* borrow: metrics */
    struct loop_timer publish;
    uint64_t mismatch_at; /* loop_now when the log last told of one; 0 = never */
    size_t idle;          /* looks, one after the other, at which no query ran */
    void (*on_drained)(void *owner);
    void *drain_owner; /* borrow */
};

struct budget *edge_budget(struct edge *edge)
{
    return edge->setup.budget;
}

struct health *edge_health(struct edge *edge)
{
    return &edge->health;
}

const struct options *edge_options(const struct edge *edge)
{
    return edge->setup.options;
}

int64_t edge_started_at(const struct edge *edge)
{
    return edge->started_at;
}

void edge_survey(struct edge *edge,
                 void (*on_done)(void *owner, const struct survey_result *result), void *owner)
{
    survey_begin(&(struct survey_setup){.loop = edge->setup.loop,
                                        .executors = edge->setup.executors,
                                        .executor_count = edge->setup.executor_count,
                                        .on_done = on_done,
                                        .owner = owner});
}

static void publish(struct edge *edge)
{
    metrics_charge(edge->shard, edge->setup.charge);
    metrics_live(edge->shard, METRIC_CHARGED_CACHE,
                 edge->setup.charge->bytes[CHARGE_CACHE] +
                     block_pool_bytes(&edge->setup.budget->blocks));
    metrics_live(edge->shard, METRIC_LIVE_EXCHANGES, server_live(edge->server).exchanges);
}

/* Nothing is kept for queries when there are none for a while, or too much is held. */
static void give_back(struct edge *edge)
{
    struct budget *budget = edge->setup.budget;
    edge->idle = admission_running(edge->admission) > 0 ? 0 : edge->idle + 1;
    if (edge->idle >= IDLE_LOOKS || budget_is_tight(budget)) {
        block_pool_drain(&budget->blocks);
    }
}

static void on_publish(struct loop_timer *timer)
{
    struct edge *edge = container_of(timer, struct edge, publish);
    admission_retry(edge->admission);
    give_back(edge);
    publish(edge);
    loop_timer_start(timer, PUBLISH_MS);
}

/* Jobs */

static void settle(struct edge *edge, struct job *job)
{
    measure_answer(job, edge->setup.charge);
    publish(edge);
    job_release(&job);
}

static void on_done(struct loop_task *task)
{
    struct job *job = container_of(task, struct job, done);
    struct edge *edge = job->owner;
    admission_leave(edge->admission, job);
    struct job *executors_count = job;
    job_release(&executors_count);
    settle(edge, job);
}

static void on_refused(struct job *job)
{
    const struct edge *edge = job->owner;
    metrics_refused(edge->setup.metrics, job->crowded ? REFUSED_PROCESS_MEMORY : REFUSED_NO_PLACE);
    settle(job->owner, job);
}

void edge_run(struct edge *edge, struct job *job)
{
    job->owner = edge;
    job->edge = edge->setup.loop;
    job->done.run = on_done;
    admission_enter(edge->admission, job);
}

void edge_abandon(struct edge *edge, struct job *job)
{
    if (admission_cancel(edge->admission, job)) {
        job_release(&job);
    }
}

/* Calls */

static const struct service_method *find_in(const struct service_method *methods, struct slice path)
{
    for (; methods->path != NULL; methods++) {
        if (slice_equal(path, slice_str(methods->path))) {
            return methods;
        }
    }
    return NULL;
}

static const struct service_method *find_method(struct slice path)
{
    const struct service_method *found = NULL;
    for (const struct service_method *const *service = services; *service != NULL && found == NULL;
         service++) {
        found = find_in(*service, path);
    }
    return found;
}

static void on_open(void *owner, struct exchange *exchange, const struct exchange_head *head)
{
    (void)owner;
    if (find_method(head->path) != NULL) {
        exchange_expect_unary(exchange);
        return;
    }
    struct error err;
    error_set(&err, ERROR_UNIMPLEMENTED,
              "unknown method %.*s: this liaison answers MeasureService queries and health checks; "
              "send writes, registry changes and the rest to a Go liaison",
              SLICE_ARG(head->path));
    exchange_finish(exchange, &err);
}

/* Small requests are always received: what they hold is far less than a share. */
static bool on_admit(void *owner, size_t declared, struct slice head, struct error *err)
{
    struct edge *edge = owner;
    const struct budget *budget = edge->setup.budget;
    (void)head;
    return declared <= SMALL_REQUEST || budget_room(budget, edge->setup.charge, declared) ||
           error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "a request of %zu bytes does not fit: the liaison holds %zu of the %zu bytes "
                     "that it may; try again in a second, or send a smaller one",
                     declared, budget_held(budget), budget->limit);
}

static void on_message(void *owner, struct exchange *exchange, struct msg *msg)
{
    find_method(exchange_head(exchange)->path)->on_request(owner, exchange, msg);
}

static void on_half_close(void *owner, struct exchange *exchange)
{
    (void)owner;
    (void)exchange;
}

static void on_gone(void *owner, struct exchange *exchange, const struct error *why)
{
    (void)why;
    const struct service_method *method = find_method(exchange_head(exchange)->path);
    if (method != NULL && method->on_gone != NULL) {
        method->on_gone(owner, exchange);
    }
}

static void on_cut(void *owner, struct exchange *exchange, const struct error *why)
{
    const struct edge *edge = owner;
    const char *no_labels[1] = {NULL};
    metrics_add(metrics_series(edge->setup.metrics, METRIC_CUT, no_labels), 1);
    log_warn(edge->setup.log, MODULE, "an answer was cut; client=%s reason=%s",
             exchange_peer(exchange), why->text);
}

/* Such clients try again and again, and are told nothing that they understand. */
static void on_mismatch(void *owner, const char *peer, const struct error *why)
{
    struct edge *edge = owner;
    const uint64_t now = loop_now(edge->setup.loop);
    if (edge->mismatch_at != 0 && now - edge->mismatch_at < MISMATCH_EVERY_NS) {
        return;
    }
    edge->mismatch_at = now;
    log_warn(edge->setup.log, MODULE,
             "of TLS and clear text a client speaks the one that is not served (--tls); client=%s "
             "error=%s",
             peer, why->text);
}

/* Life */

static void on_server_drained(void *owner)
{
    struct edge *edge = owner;
    edge->on_drained(edge->drain_owner);
}

static void on_certificate(void *owner, struct ssl_ctx_st *context)
{
    server_set_tls(((struct edge *)owner)->server, context);
}

static bool open_certificate(struct edge *edge, struct error *err)
{
    const struct certificate_setup setup = {
        .loop = edge->setup.loop,
        .options = edge->setup.options,
        .log = edge->setup.log,
        .on_change = on_certificate,
        .owner = edge,
    };
    if (edge->setup.options->tls) {
        edge->certificate = certificate_open(&setup, err);
    }
    return !edge->setup.options->tls || edge->certificate != NULL;
}

static struct server *open_server(struct edge *edge, struct error *err)
{
    const struct options *options = edge->setup.options;
    static const struct server_events events = {
        .on_open = on_open,
        .on_message = on_message,
        .on_half_close = on_half_close,
        .on_gone = on_gone,
        .admit = on_admit,
        .on_cut = on_cut,
        .on_mismatch = on_mismatch,
    };
    const struct server_options server = {
        .host = options->grpc_host,
        .port = options->grpc_port,
        .reuse_port = options->reuse_port,
        .tls = edge->certificate == NULL ? NULL : certificate_context(edge->certificate),
        .max_message_bytes = options->max_recv_msg_size,
        .max_concurrent_streams = MAX_STREAMS,
        .stall_timeout_ms = duration_ms(options->client_stall_timeout),
        .charge = edge->setup.charge,
    };
    return server_open(edge->setup.loop, &server, &events, edge, err);
}

struct edge *edge_open(const struct edge_setup *setup, struct error *err)
{
    struct edge *edge = own_array(1, sizeof *edge);
    edge->setup = *setup;
    edge->started_at = loop_wall_ns();
    health_init(&edge->health);
    edge->server = open_certificate(edge, err) ? open_server(edge, err) : NULL;
    if (edge->server == NULL) {
        certificate_close(&edge->certificate);
        free(edge);
        return NULL;
    }
    const struct admission_setup admission = {
        .loop = setup->loop,
        .options = setup->options,
        .budget = setup->budget,
        .executors = setup->executors,
        .executor_count = setup->executor_count,
        .on_refused = on_refused,
    };
    edge->admission = admission_open(&admission);
    edge->shard = metrics_shard(setup->metrics);
    loop_timer_init(&edge->publish, setup->loop, on_publish);
    loop_timer_start(&edge->publish, PUBLISH_MS);
    return edge;
}

uint16_t edge_port(const struct edge *edge)
{
    return server_port(edge->server);
}

void edge_set_serving(struct edge *edge, bool serving)
{
    health_set(&edge->health, serving);
}

void edge_drain(struct edge *edge, void (*on_drained)(void *owner), void *owner)
{
    edge->on_drained = on_drained;
    edge->drain_owner = owner;
    health_set(&edge->health, false);
    health_end_watches(&edge->health);
    server_drain(edge->server, on_server_drained);
}

void edge_end(struct edge *edge)
{
    admission_end(edge->admission);
}

void edge_close(struct edge **edge)
{
    struct edge *closed = *edge;
    *edge = NULL;
    if (closed == NULL) {
        return;
    }
    health_end_watches(&closed->health);
    server_close(&closed->server);
    certificate_close(&closed->certificate);
    admission_close(&closed->admission);
    loop_timer_fini(&closed->publish);
    loop_reap(closed->setup.loop, closed, free); /* after the server has told of its last calls */
}
