// SPDX-License-Identifier: Apache-2.0
/* Of equal versions the better value counts, so that no order of arrival matters. */
#include "merge/topn_batch.h"

#include <math.h>

/* What an item costs to take in, and to fold. */
#define ITEM_STEPS 16
#define FOLD_STEPS 4

struct topn_state {
    struct topn_entity *entity; /* borrow: region */
    int64_t time;
    int64_t version;
    union topn_number value;
};

static bool is_same(const void *owner, size_t a, size_t b)
{
    const struct topn_batch *batch = owner;
    const struct topn_state *state_a = shelf_at(&batch->states, sizeof(struct topn_state), a);
    const struct topn_state *state_b = shelf_at(&batch->states, sizeof(struct topn_state), b);
    return state_a->entity == state_b->entity && state_a->time == state_b->time;
}

void topn_batch_init(struct topn_batch *batch, struct topn_entities *entities)
{
    *batch = (struct topn_batch){.entities = entities};
    batch->seen.same = is_same;
    batch->seen.owner = batch;
    tuple_init(&batch->tags, entities->arena);
}

void topn_batch_begin(struct topn_batch *batch, size_t group)
{
    batch->group = group;
    batch->count = 0;
    batch->folded = 0;
    seen_clear(&batch->seen);
}

/* A value of the other type is turned into the schema's; what is no number is 0. */
static union topn_number number_of(const struct cell *value, enum plan_type type)
{
    static const struct cell zero = {.kind = CELL_INT};
    const struct cell *number = value->kind == CELL_NULL ? &zero : value;
    if (type == PLAN_INT) {
        return (union topn_number){.i = reduce_int_of(number)};
    }
    double real = reduce_float_of(number);
    return (union topn_number){.f = isnan(real) ? (double)NAN : real};
}

static bool is_newer(const struct topn_plan *plan, const struct topn_state *a,
                     const struct topn_state *b)
{
    return a->version != b->version ? a->version > b->version
                                    : topn_plan_compare(plan, a->value, b->value) < 0;
}

static void put(struct topn_batch *batch, const struct topn_read *item)
{
    const struct topn_plan *plan = batch->entities->plan;
    struct arena *arena = batch->entities->arena;
    struct topn_state *state = shelf_put(&batch->states, sizeof *state, arena, batch->count);
    *state = (struct topn_state){
        .entity = topn_entity_put(batch->entities, &batch->tags, batch->group),
        .time = item->time,
        .version = item->version,
        .value = number_of(&item->value, plan->agg.type),
    };
    uint32_t hash = seen_hash(0, state->entity->place, state->time);
    size_t place = seen_put(&batch->seen, arena, hash, batch->count);
    struct topn_state *before = shelf_at(&batch->states, sizeof(struct topn_state), place);
    if (place == batch->count) {
        batch->count++;
    } else if (is_newer(plan, state, before)) {
        *before = *state;
    }
}

static bool over_budget(const struct topn_batch *batch, struct error *err)
{
    const struct arena *arena = batch->entities->arena;
    return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "the entities need more than the query's memory budget of %zu bytes (%zu are "
                     "in use); ask for fewer with a lower top_n, conditions, or a narrower time "
                     "range",
                     arena->budget, arena->capacity);
}

void topn_batch_offer(struct topn_batch *batch, struct slice body)
{
    topn_reader_init(&batch->reader, body);
}

enum progress topn_batch_take(struct topn_batch *batch, size_t *left, size_t *items_out,
                              struct error *err)
{
    struct topn_read item;
    enum topn_reader_state state = TOPN_READER_ITEM;
    while (state == TOPN_READER_ITEM && *left > 0) {
        state = topn_reader_next(&batch->reader, &batch->tags, &item, err);
        if (state == TOPN_READER_ITEM) {
            put(batch, &item);
            progress_spend(left, ITEM_STEPS);
        }
        if (state == TOPN_READER_ITEM && arena_over(batch->entities->arena)) {
            over_budget(batch, err);
            return PROGRESS_FAILED;
        }
    }
    *items_out = batch->reader.count;
    return state == TOPN_READER_ITEM  ? PROGRESS_MORE
           : state == TOPN_READER_END ? PROGRESS_DONE
                                      : PROGRESS_FAILED;
}

bool topn_batch_feed(struct topn_batch *batch, struct slice body, size_t *items_out,
                     struct error *err)
{
    size_t all = PROGRESS_ALL;
    topn_batch_offer(batch, body);
    return topn_batch_take(batch, &all, items_out, err) == PROGRESS_DONE;
}

bool topn_batch_fold_some(struct topn_batch *batch, size_t *left)
{
    for (; batch->folded<batch->count && * left> 0; batch->folded++) {
        const struct topn_state *state =
            shelf_at(&batch->states, sizeof(struct topn_state), batch->folded);
        topn_entity_take(batch->entities, state->entity, state->value);
        progress_spend(left, FOLD_STEPS);
    }
    if (batch->folded < batch->count) {
        return false;
    }
    topn_batch_begin(batch, batch->group);
    return true;
}

void topn_batch_fold(struct topn_batch *batch)
{
    size_t all = PROGRESS_ALL;
    (void)topn_batch_fold_some(batch, &all);
}
