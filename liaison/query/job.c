// SPDX-License-Identifier: Apache-2.0
/* The count is the one thing of a job that two threads write. */
#include "liaison/query/job.h"

#include "liaison/own.h"
#include "proto/utf8.h"

#include <stdlib.h>

struct job *job_new(enum job_kind kind, struct budget *budget)
{
    struct job *job = own_array(1, sizeof *job);
    atomic_init(&job->count, 1);
    job->kind = kind;
    job->crossing.shared = &budget->held;
    chain_init(&job->response, &job->crossing);
    return job;
}

struct job *job_retain(struct job *job)
{
    atomic_fetch_add_explicit(&job->count, 1, memory_order_relaxed);
    return job;
}

/* A name that was cut may end within a character, and a node's text may hold anything. */
void job_fail(struct job *job, const struct error *err)
{
    struct error *status = &job->status;
    *status = *err;
    if (!utf8_valid(slice_str(status->text))) {
        char *text = utf8_replace(slice_str(status->text));
        error_set(status, status->code, "%s", text);
        free(text);
    }
}

void job_release(struct job **job)
{
    struct job *released = *job;
    *job = NULL;
    if (released == NULL ||
        atomic_fetch_sub_explicit(&released->count, 1, memory_order_acq_rel) > 1) {
        return;
    }
    msg_release(&released->request);
    chain_fini(&released->response);
    free(released->incomplete);
    free(released);
}
