// SPDX-License-Identifier: Apache-2.0
/*
 * An executor: one thread that runs whole queries, with its own loop, its own connections to the
 * data nodes and its own memory. A query belongs to one executor for life.
 */
#pragma once

#include "liaison/cluster/node.h"
#include "liaison/cluster/world.h"
#include "liaison/log.h"
#include "liaison/metrics.h"
#include "liaison/options/options.h"
#include "liaison/query/budget.h"
#include "liaison/query/job.h"
#include "merge/arena.h"

struct executor;
struct survey_part;

struct executor_setup {
    const struct options *options; /* borrow: outlives the executor */
    struct log *log;               /* borrow: outlives the executor */
    struct metrics *metrics;       /* borrow: outlives the executor */
    struct budget *budget;         /* borrow: outlives the executor */
    unsigned number;               /* for the thread's name */
};

/* Starts the thread. */
struct executor *executor_open(const struct executor_setup *setup);
/* From any thread: queries that begin from now on see this world. */
void executor_set_world(struct executor *executor, struct world *world /* take: one count */);
/* From the edge: runs the job; its `done` comes back to the edge's loop. */
void executor_submit(struct executor *executor, struct job *job);
/* From the edge, at most once a job: the client is gone. `done` comes all the same. */
void executor_cancel(struct job *job);
/* Ends what still runs with UNAVAILABLE, ends the thread and waits for it. */
void executor_close(struct executor **executor);

/* What follows is for the queries of this executor, on its thread. */
struct loop *executor_loop(struct executor *executor);
const struct executor_setup *executor_setup(const struct executor *executor);
struct charge *executor_charge(struct executor *executor);
struct arena_cache *executor_cache(struct executor *executor);
struct world *executor_world(struct executor *executor); /* borrow; NULL before the first */
/* The connection to a member, or NULL when it has none (never reached, left). */
struct node *executor_node(struct executor *executor, const struct member *member);
/* Fills the part with copies of what it knows of its nodes. */
void executor_report(struct executor *executor, struct survey_part *part);
/* False in the first moments, while nodes are being connected for the first time: an answer would
 * lack them for no reason. It turns true after 3 seconds at most. */
bool executor_is_settled(struct executor *executor);
/* Runs the task when it is its turn. What takes long (merging, above all) is done in shares of some
 * milliseconds, one share in each turn of the loop, so that sockets and other queries get theirs.
 */
void executor_queue(struct executor *executor, struct loop_task *task);
/* It is not to run any more; a task that does not wait is fine. */
void executor_unqueue(struct executor *executor, struct loop_task *task);
/* From such a task, now and then: it is to let others have a turn. Reads the clock anew. */
bool executor_share_is_over(struct executor *executor);
void executor_job_began(struct executor *executor, struct job *job);
void executor_job_ended(struct executor *executor, struct job *job);
