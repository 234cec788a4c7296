// SPDX-License-Identifier: Apache-2.0
/*
 * Who may run: at most --max-concurrent-queries at a time, and only with a share of the process's
 * memory (budget.h); the rest waits in line for at most --max-queue-duration. A place is taken
 * until the answer is built, not until it is read.
 *
 * Each job goes to the executor that has the fewest.
 */
#pragma once

#include "liaison/query/executor.h"

struct admission;

struct admission_setup {
    struct loop *loop;             /* borrow: the edge's; outlives it */
    const struct options *options; /* borrow: outlives it */
    struct budget *budget;         /* borrow: outlives it */
    struct executor **executors;   /* borrow: outlive it */
    size_t executor_count;
    /* A job has waited too long; its status is set. It never ran. */
    void (*on_refused)(struct job *job);
};

struct admission *admission_open(const struct admission_setup *setup);
void admission_close(struct admission **admission);

/* The executors are about to close: what waits, and what comes from now on, is refused. */
void admission_end(struct admission *admission);

/* Starts the job now or later. */
void admission_enter(struct admission *admission, struct job *job);
/* The job has ended: its place is free. */
void admission_leave(struct admission *admission, struct job *job);
/* Memory may have become free, as answers were read: starts who can be started. Now and then. */
void admission_retry(struct admission *admission);
/* The client is gone. True: the job was still waiting and is forgotten, nothing comes any more. */
bool admission_cancel(struct admission *admission, struct job *job);

size_t admission_running(const struct admission *admission);
