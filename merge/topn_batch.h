// SPDX-License-Identifier: Apache-2.0
/*
 * Answers of several nodes to one question: of the states of an entity at a time the newest counts,
 * and it counts once. The same entity and time from two nodes are copies or older states of each
 * other, never shares.
 *
 *     begin(group) ─┬─ offer(a node's TopNResponse) ── take … ─┬─ fold …: its values go to the
 * entities └─ …                                       ┘
 *
 * A batch is used again for the next question, so what is held is bounded by the entities of as
 * many questions as are open at a time.
 */
#pragma once

#include "merge/seen.h"
#include "merge/shelf.h"
#include "merge/topn_entity.h"
#include "merge/topn_reader.h"

struct topn_batch {
    struct topn_entities *entities; /* borrow: outlive the batch */
    size_t group;
    struct seen seen;    /* places of states by (entity, time) */
    struct shelf states; /* of topn_state */
    size_t count;
    size_t folded;             /* of these */
    struct tuple tags;         /* of the item that is being read */
    struct topn_reader reader; /* of the answer that is being taken in */
};

void topn_batch_init(struct topn_batch *batch, struct topn_entities *entities);
/* Empties it. */
void topn_batch_begin(struct topn_batch *batch, size_t group);
/* Gives a node's answer, one at a time; it is looked at by topn_batch_take. */
void topn_batch_offer(struct topn_batch *batch, struct slice body);
/* Takes over the next items. DONE: nothing of the body is used any more. FAILED: DATA_LOSS, or
 * RESOURCE_EXHAUSTED when the region's budget is used up. `items_out`: how many have come. */
enum progress topn_batch_take(struct topn_batch *batch, size_t *left, size_t *items_out,
                              struct error *err) MUST_CHECK;
/* Both, for callers that have no turns to share. */
bool topn_batch_feed(struct topn_batch *batch, struct slice body, size_t *items_out,
                     struct error *err) MUST_CHECK;
/* True: all values are with their entities, and the batch is empty. */
bool topn_batch_fold_some(struct topn_batch *batch, size_t *left);
void topn_batch_fold(struct topn_batch *batch);
