// SPDX-License-Identifier: Apache-2.0
/*
 * banyandb.measure.v1.MeasureService on the edge: a request becomes a job, a job's end becomes the
 * answer. The bytes are not looked at here.
 */
#include "liaison/edge/measure.h"

#define RETRY_MS "1000" /* for gRPC's own retries, after a refusal for want of memory */

static void run(struct edge *edge, enum job_kind kind, struct exchange *exchange, struct msg *msg)
{
    struct job *job = job_new(kind, edge_budget(edge));
    msg_recharge(msg, &job->crossing);
    job->request = msg;
    job->deadline = exchange_head(exchange)->deadline;
    job->exchange = exchange;
    exchange_set_user(exchange, job);
    edge_run(edge, job);
}

/* Nobody waits for it any more. It goes by way of the edge's account, which frees what is large by
 * turns. */
static void drop_response(struct job *job, struct charge *charge)
{
    struct chain response;
    chain_init(&response, charge);
    chain_move(&job->response, &response);
    chain_fini(&response);
}

void measure_answer(struct job *job, struct charge *charge)
{
    struct exchange *exchange = job->exchange;
    if (exchange == NULL) {
        drop_response(job, charge);
        return;
    }
    job->exchange = NULL;
    exchange_set_user(exchange, NULL);
    if (job->incomplete != NULL) {
        exchange_trailer(exchange, "banyandb-incomplete", job->incomplete);
    }
    if (job->approximate != NULL) {
        exchange_trailer(exchange, "banyandb-approximate", job->approximate);
    }
    if (job->crowded) {
        exchange_trailer(exchange, "grpc-retry-pushback-ms", RETRY_MS);
    }
    if (job->status.code != ERROR_NONE) {
        exchange_finish(exchange, &job->status);
        return;
    }
    struct chain message;
    chain_init(&message, charge);
    chain_move(&job->response, &message);
    exchange_respond(exchange, &message);
}

static void on_gone(struct edge *edge, struct exchange *exchange)
{
    struct job *job = exchange_user(exchange);
    if (job != NULL) {
        job->exchange = NULL;
        edge_abandon(edge, job);
    }
}

static void on_query(struct edge *edge, struct exchange *exchange, struct msg *msg)
{
    run(edge, JOB_MEASURE_QUERY, exchange, msg);
}

static void on_topn(struct edge *edge, struct exchange *exchange, struct msg *msg)
{
    run(edge, JOB_TOPN, exchange, msg);
}

/* Of this service, and for nobody outside a cluster: no liaison answers them, not even upstream's.
 */
static void refuse(struct exchange *exchange, struct msg *msg, const char *method)
{
    struct error err;
    msg_release(&msg);
    error_set(&err, ERROR_UNIMPLEMENTED, "method %s not implemented", method);
    exchange_finish(exchange, &err);
}

static void on_internal_query(struct edge *edge, struct exchange *exchange, struct msg *msg)
{
    (void)edge;
    refuse(exchange, msg, "InternalQuery");
}

static void on_delete_expired_segments(struct edge *edge, struct exchange *exchange,
                                       struct msg *msg)
{
    (void)edge;
    refuse(exchange, msg, "DeleteExpiredSegments");
}

const struct service_method measure_methods[] = {
    {"/banyandb.measure.v1.MeasureService/Query", on_query, on_gone},
    {"/banyandb.measure.v1.MeasureService/TopN", on_topn, on_gone},
    {"/banyandb.measure.v1.MeasureService/InternalQuery", on_internal_query, NULL},
    {"/banyandb.measure.v1.MeasureService/DeleteExpiredSegments", on_delete_expired_segments, NULL},
    {NULL, NULL, NULL},
};
