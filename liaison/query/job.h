// SPDX-License-Identifier: Apache-2.0
/*
 * One client request on its way between two threads, and the only thing that crosses them.
 *
 *     edge ── the request's bytes (take) ──▶ executor
 *     edge ◀─ the response's bytes or an error (take) ── executor
 *     edge ── the client left ──▶ executor
 *
 * Each field belongs to the thread that its comment names; whoever posts one of the tasks holds a
 * count until it has run, so a job outlives both ends whatever their order.
 */
#pragma once

#include "frame/chain.h"
#include "frame/error.h"
#include "frame/msg.h"
#include "liaison/loop.h"
#include "liaison/query/budget.h"

#include <stdatomic.h>

struct executor;
struct query;

enum job_kind { JOB_MEASURE_QUERY, JOB_TOPN };

enum job_place {
    JOB_OUTSIDE, /* not admitted yet, or ended */
    JOB_WAITING, /* in line for a place; guarded by the admission's timer */
    JOB_RUNNING, /* an executor has it */
};

struct job {
    atomic_int count;
    enum job_kind kind;
    struct charge crossing; /* of what is between the threads; whoever holds that writes it */

    struct loop_task start;  /* edge → executor */
    struct loop_task cancel; /* edge → executor; at most once */
    struct loop_task done;   /* executor → edge; exactly once */

    /* Set by the edge before start, read by the executor. */
    struct executor *executor; /* borrow: outlives its jobs */
    struct loop *edge;         /* borrow: outlives the executors */
    struct msg *request;       /* own: taken by the executor; `crossing` pays meanwhile */
    uint64_t deadline;         /* loop_now's clock, 0 = none */

    /* Executor only. */
    struct query *query;     /* borrow: NULL before start and after done */
    LIST_ENTRY(job) running; /* in the executor's list while query is set */

    /* Set by the executor before done, read by the edge. */
    struct chain response;   /* own: `crossing` pays for it */
    struct error status;     /* code NONE = OK */
    char *incomplete;        /* own: names of nodes that the answer lacks, or NULL */
    const char *approximate; /* borrow: static; what of the answer is approximate, or NULL */
    bool crowded;            /* it failed because the process holds too much: try again later */

    /* Edge only. */
    void *owner;    /* borrow: the edge's */
    void *exchange; /* borrow: NULL when the client is gone */
    enum job_place place;
    enum budget_ticket ticket; /* what it was admitted with */
    uint64_t entered;          /* loop_now's clock: when it began to wait */
    size_t executor_index;     /* while RUNNING */
    TAILQ_ENTRY(job) line;     /* while WAITING */
};

struct job *job_new(enum job_kind kind, struct budget *budget);
struct job *job_retain(struct job *job);
/* The client is told this, in texts that are UTF-8 whatever a node has said. */
void job_fail(struct job *job, const struct error *err);
/* The last release frees what was not taken. */
void job_release(struct job **job);
