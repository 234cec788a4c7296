// SPDX-License-Identifier: Apache-2.0
/*
 * Whom a plan asks: for each group the nodes of its stages that are up; and which rows the answer
 * will lack because others are not.
 */
#pragma once

#include "liaison/query/executor.h"
#include "liaison/query/fanout.h"
#include "proto/request.h"

struct broadcast {
    struct executor *executor;     /* borrow */
    const struct world *world;     /* borrow: the query's */
    const struct request *request; /* borrow: planned */
    struct arena *arena;           /* borrow: the query's */
    struct charge *charge;         /* borrow: the query's; pays for the answers */
    uint64_t client_deadline;      /* loop_now's clock, 0 = none */

    size_t call_count; /* after broadcast_prepare */
    char *incomplete;  /* own, the caller's: names of the nodes that the answer lacks, or NULL */
    struct broadcast_group *groups; /* borrow: the arena */
};

/* False: nobody can be asked for some group, or --incomplete=fail and the answer would lack rows.
 */
bool broadcast_prepare(struct broadcast *broadcast, struct error *err) MUST_CHECK;
/* Asks all of them and seals the fan-out. */
void broadcast_ask(const struct broadcast *broadcast, struct fanout *fanout);
