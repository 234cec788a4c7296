// SPDX-License-Identifier: Apache-2.0
/*
 * banyandb.measure.v1.MeasureService on the edge: a request becomes a job, a job's end becomes the
 * answer. The bytes are not looked at here.
 */
#include "liaison/edge/measure.h"

static void on_query(struct edge *edge, struct exchange *exchange, struct msg *msg)
{
    struct job *job = job_new(JOB_MEASURE_QUERY);
    msg_recharge(msg, NULL);
    job->request = msg;
    job->deadline = exchange_head(exchange)->deadline;
    job->exchange = exchange;
    exchange_set_user(exchange, job);
    edge_run(edge, job);
}

void measure_answer(struct job *job, struct charge *charge)
{
    struct exchange *exchange = job->exchange;
    if (exchange == NULL) {
        return;
    }
    job->exchange = NULL;
    exchange_set_user(exchange, NULL);
    if (job->incomplete != NULL) {
        exchange_trailer(exchange, "banyandb-incomplete", job->incomplete);
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

static void on_query_gone(struct edge *edge, struct exchange *exchange)
{
    struct job *job = exchange_user(exchange);
    if (job != NULL) {
        job->exchange = NULL;
        edge_abandon(edge, job);
    }
}

static void on_topn(struct edge *edge, struct exchange *exchange, struct msg *msg)
{
    (void)edge;
    struct error err;
    msg_release(&msg);
    error_set(&err, ERROR_UNIMPLEMENTED,
              "MeasureService.TopN is not served by this version yet; MeasureService.Query without "
              "group_by, agg and top is");
    exchange_finish(exchange, &err);
}

const struct service_method measure_methods[] = {
    {"/banyandb.measure.v1.MeasureService/Query", on_query, on_query_gone},
    {"/banyandb.measure.v1.MeasureService/TopN", on_topn, NULL},
    {NULL, NULL, NULL},
};
