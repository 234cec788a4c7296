// SPDX-License-Identifier: Apache-2.0
/* Entities are put on a heap when all values are in; as many are taken off it as are asked. */
#include "merge/topn.h"

#include "merge/heap.h"

#define ENTITIES_PER_STEP 512

struct topn {
    struct arena *arena; /* borrow: outlives it */
    struct topn_entities entities;
    struct topn_entity *waiting; /* the first that is not on the heap yet */
    struct heap ranking;
    bool ranked;
    uint64_t given;
    struct topn_tag *tags; /* borrow: region */
    size_t tag_capacity;
};

struct topn *topn_open(const struct topn_plan *plan, struct arena *arena)
{
    struct topn *topn = arena_new(arena, struct topn);
    topn->arena = arena;
    topn_entity_init(&topn->entities, plan, arena);
    return topn;
}

struct topn_batch *topn_batch_new(struct topn *topn)
{
    struct topn_batch *batch = arena_new(topn->arena, struct topn_batch);
    topn_batch_init(batch, &topn->entities);
    return batch;
}

static bool is_better(const void *owner, const void *a, const void *b)
{
    return topn_entity_before(owner, a, b);
}

static void begin_ranking(struct topn *topn)
{
    topn->ranking = (struct heap){
        .items = arena_array_raw(topn->arena, void *, topn->entities.table.count),
        .less = is_better,
        .owner = &topn->entities,
    };
    topn->waiting = topn->entities.first;
    topn->ranked = true;
}

/* An entity without a value has been named in a batch that was not folded. */
static void rank_some(struct topn *topn)
{
    for (size_t i = 0; topn->waiting != NULL && i < ENTITIES_PER_STEP; i++) {
        struct topn_entity *entity = topn->waiting;
        topn->waiting = entity->next;
        if (entity->has) {
            topn_entity_close(&topn->entities, entity);
            heap_push(&topn->ranking, entity);
        }
    }
}

static void put_tag(struct topn *topn, size_t place, struct slice name, const struct cell *value)
{
    if (place == topn->tag_capacity) {
        size_t capacity = place == 0 ? 8 : 2 * place;
        struct topn_tag *tags = arena_array_raw(topn->arena, struct topn_tag, capacity);
        if (place > 0) {
            memcpy(tags, topn->tags, place * sizeof *tags);
        }
        topn->tags = tags;
        topn->tag_capacity = capacity;
    }
    topn->tags[place] = (struct topn_tag){.name = name, .value = *value};
}

static void fill_item(struct topn *topn, const struct topn_entity *entity, struct topn_item *item)
{
    struct slice rest = topn_entity_tags(entity);
    size_t count = 0;
    while (rest.len > 0) {
        struct cell name = tuple_take(&rest);
        struct cell value = tuple_take(&rest);
        put_tag(topn, count++, name.bytes, &value);
    }
    *item = (struct topn_item){
        .group = entity->of_group,
        .tag_count = count,
        .tags = topn->tags,
        .value = topn_entity_result(&topn->entities, entity),
    };
}

enum topn_step topn_next(struct topn *topn, struct topn_item *item)
{
    if (!topn->ranked) {
        begin_ranking(topn);
    }
    if (topn->waiting != NULL) {
        rank_some(topn);
        return TOPN_MORE;
    }
    if (topn->given == topn->entities.plan->number || topn->ranking.count == 0) {
        return TOPN_DONE;
    }
    topn->given++;
    fill_item(topn, heap_pop(&topn->ranking), item);
    return TOPN_ITEM;
}
