// SPDX-License-Identifier: Apache-2.0
/*
 * Whom a job asks: for each group the nodes of its stages that are up; and which rows the answer
 * will lack because others are not. The choice is made once and holds for all its questions; a node
 * that is lost on the way counts as one that was not up, as far as --incomplete allows:
 *
 *                  │ rows are complete all the same │ rows are missing
 *     mark         │ answered                       │ down before: trailer · lost: the query fails
 *     serve        │ answered                       │ trailer
 *     fail         │ answered                       │ UNAVAILABLE
 */
#pragma once

#include "liaison/query/executor.h"
#include "liaison/query/fanout.h"
#include "proto/request_group.h"

struct broadcast {
    struct executor *executor;          /* borrow */
    const struct world *world;          /* borrow: the query's */
    const struct request_group *groups; /* borrow: planned */
    size_t group_count;
    int64_t begin;       /* of the range asked, ns since the epoch */
    const char *refusal; /* borrow: before a text that says why nobody can be asked; "" = none */
    struct arena *arena; /* borrow: the query's */
    uint64_t client_deadline; /* loop_now's clock, 0 = none */

    char *incomplete; /* own, the caller's: names of the nodes that the answer lacks, or NULL */
    struct selection *selections; /* borrow: the arena; one for each group */
    bool *up;                     /* borrow: the arena; by member: asked, and not lost since */
    bool *lost;                   /* borrow: the arena; by member: without which it goes on */
};

struct broadcast_question {
    size_t number; /* what answers tell it by */
    size_t group;
    const char *topic;
    struct slice body; /* borrow */
};

/* False: nobody can be asked for some group, or --incomplete=fail and the answer would lack rows.
 */
bool broadcast_prepare(struct broadcast *broadcast, struct error *err) MUST_CHECK;
/* A node has failed with err on the way. True: the answer goes on without it (`incomplete` may be
 * another one now); false: err says why not. */
bool broadcast_lose(struct broadcast *broadcast, size_t rank, struct error *err) MUST_CHECK;
/* Whether the answer lacks no more rows when these members (by rank) are not waited for. */
bool broadcast_can_spare(const struct broadcast *broadcast, const bool *waiting);
/* How many nodes are asked for the group; and for each group one question, together. */
size_t broadcast_size(const struct broadcast *broadcast, size_t group);
size_t broadcast_calls(const struct broadcast *broadcast);
/* Asks all of the group's nodes, or only the one of this rank. */
void broadcast_ask(const struct broadcast *broadcast, struct fanout *fanout,
                   const struct broadcast_question *question);
void broadcast_ask_one(const struct broadcast *broadcast, struct fanout *fanout,
                       const struct broadcast_question *question, size_t rank);
