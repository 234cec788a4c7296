// SPDX-License-Identifier: Apache-2.0
/*
 * Answers of several nodes to one question: of the states of an entity at a time the newest counts,
 * and it counts once. The same entity and time from two nodes are copies or older states of each
 * other, never shares.
 *
 *     begin(group) ── feed(a node's TopNResponse) … ── fold: its values go to the entities
 *
 * A batch is used again for the next question, so what is held is bounded by the entities of as
 * many questions as are open at a time.
 */
#pragma once

#include "merge/seen.h"
#include "merge/topn_entity.h"

struct topn_state;

struct topn_batch {
    struct topn_entities *entities; /* borrow: outlive the batch */
    size_t group;
    struct seen seen; /* places of states by (entity, time) */
    size_t count;
    size_t capacity;
    struct topn_state *states; /* borrow: region */
    struct tuple tags;         /* of the item that is being read */
};

void topn_batch_init(struct topn_batch *batch, struct topn_entities *entities);
/* Empties it. */
void topn_batch_begin(struct topn_batch *batch, size_t group);
/* Takes over a node's items; nothing of `body` is used later. False: DATA_LOSS, or
 * RESOURCE_EXHAUSTED when the region's budget is used up. `items_out`: how many came. */
bool topn_batch_feed(struct topn_batch *batch, struct slice body, size_t *items_out,
                     struct error *err) MUST_CHECK;
void topn_batch_fold(struct topn_batch *batch);
