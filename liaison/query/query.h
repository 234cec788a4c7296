// SPDX-License-Identifier: Apache-2.0
/*
 * The life of one client request, from its bytes to the response's.
 *
 *     WAITING ⇄ PLANNING ─▶ ASKING ⇄ MERGING ─▶ ENDED
 *        └──────────┴─(answered, refused, left)────▲
 *
 * Who has whom:
 *
 *     job        what crosses the threads: request bytes there, response bytes or an error back
 *     └─ query   the steps, and what it holds
 *        ├─ gate   what it waits for before it is planned
 *        ├─ work   what its kind does at each step (measure_work, topn_work)
 *        │  └─ broadcast   whom each group asks, and what the answer lacks
 *        └─ rounds the work's questions, asked once, again, or ahead of their turn
 *           └─ round
 *              └─ fanout   its calls, and the answers that wait to be taken in
 *
 * Everything it makes lives in its region and is charged to it; the end gives all of it back. An
 * error may come from any floor; here alone it becomes the client's status.
 */
#pragma once

#include "liaison/query/executor.h"

struct query;

/* Begins to run the job on the executor's thread. Takes the job's request. */
void query_start(struct executor *executor, struct job *job);
/* Ends it early, for this reason: calls are cancelled at once. */
void query_cancel(struct query *query, enum error_code code, const char *why);
