// SPDX-License-Identifier: Apache-2.0
/* Of equal versions the better value counts, so that no order of arrival matters. */
#include "merge/topn_batch.h"

#include "merge/topn_reader.h"

#include <math.h>

#define FIRST_CAPACITY 64

struct topn_state {
    struct topn_entity *entity; /* borrow: region */
    int64_t time;
    int64_t version;
    union topn_number value;
};

static bool is_same(const void *owner, size_t a, size_t b)
{
    const struct topn_batch *batch = owner;
    const struct topn_state *state_a = &batch->states[a];
    const struct topn_state *state_b = &batch->states[b];
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

/* Old states are left to the region. */
static void grow(struct topn_batch *batch)
{
    size_t capacity = batch->capacity == 0 ? FIRST_CAPACITY : 2 * batch->capacity;
    struct topn_state *states =
        arena_array_raw(batch->entities->arena, struct topn_state, capacity);
    if (batch->count > 0) {
        memcpy(states, batch->states, batch->count * sizeof *states);
    }
    batch->states = states;
    batch->capacity = capacity;
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
    if (batch->count == batch->capacity) {
        grow(batch);
    }
    struct topn_state *state = &batch->states[batch->count];
    *state = (struct topn_state){
        .entity = topn_entity_put(batch->entities, &batch->tags, batch->group),
        .time = item->time,
        .version = item->version,
        .value = number_of(&item->value, plan->agg.type),
    };
    size_t place = seen_put(&batch->seen, batch->entities->arena,
                            seen_hash(0, state->entity->place, state->time), batch->count);
    if (place == batch->count) {
        batch->count++;
    } else if (is_newer(plan, state, &batch->states[place])) {
        batch->states[place] = *state;
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

bool topn_batch_feed(struct topn_batch *batch, struct slice body, size_t *items_out,
                     struct error *err)
{
    struct topn_reader reader;
    struct topn_read item;
    enum topn_reader_state state;
    topn_reader_init(&reader, body);
    while ((state = topn_reader_next(&reader, &batch->tags, &item, err)) == TOPN_READER_ITEM) {
        put(batch, &item);
        if (arena_over(batch->entities->arena)) {
            return over_budget(batch, err);
        }
    }
    *items_out = reader.count;
    return state == TOPN_READER_END;
}

void topn_batch_fold(struct topn_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        topn_entity_take(batch->entities, batch->states[i].entity, batch->states[i].value);
    }
    topn_batch_begin(batch, batch->group);
}
