// SPDX-License-Identifier: Apache-2.0
/* What the measure service and the edge's main file need of each other. */
#pragma once

#include "liaison/edge/service.h"
#include "liaison/query/job.h"

/* Runs the job (taken: its one count) when there is a place; measure_answer follows. */
void edge_run(struct edge *edge, struct job *job /* take */);
/* The client of this job is gone. */
void edge_abandon(struct edge *edge, struct job *job);

/* What the process may hold. */
struct budget *edge_budget(struct edge *edge);

/* Sends a job's result to its client, if it is still there. `charge` pays for the response. */
void measure_answer(struct job *job, struct charge *charge);
