// SPDX-License-Identifier: Apache-2.0
#include "merge/topn_entity.h"

#include "merge/key.h"

#define GROUP_SIZE 9 /* spelled: a kind and 8 bytes */

void topn_entity_init(struct topn_entities *entities, const struct topn_plan *plan,
                      struct arena *arena)
{
    *entities = (struct topn_entities){.plan = plan, .arena = arena};
    entities->last = &entities->first;
    group_init(&entities->table, sizeof(struct topn_entity), arena);
}

struct topn_entity *topn_entity_put(struct topn_entities *entities, struct tuple *tags,
                                    size_t group)
{
    struct group_table *table = &entities->table;
    size_t known = table->count;
    tuple_put(tags, &(struct cell){.kind = CELL_INT, .number.i = (int64_t)group});
    struct slice key = tuple_since(tags, 0);
    struct topn_entity *entity =
        (struct topn_entity *)group_put(table, key, group_hash(table, key));
    if (table->count > known) {
        entity->place = known;
        entity->of_group = group;
        *entities->last = entity;
        entities->last = &entity->next;
    }
    return entity;
}

static struct cell cell_of(const struct topn_plan *plan, union topn_number number)
{
    if (plan->agg.type == PLAN_INT) {
        return (struct cell){.kind = CELL_INT, .number.i = number.i};
    }
    return (struct cell){.kind = CELL_FLOAT, .number.f = number.f};
}

static void count_in(struct topn_entities *entities, struct topn_entity *entity,
                     union topn_number value)
{
    struct cell cell = cell_of(entities->plan, value);
    reduce_value(&entity->total, &entities->plan->agg, &cell, entities->arena);
}

void topn_entity_take(struct topn_entities *entities, struct topn_entity *entity,
                      union topn_number value)
{
    if (!entity->has || topn_plan_compare(entities->plan, value, entity->best) < 0) {
        entity->best = value;
    }
    entity->has = true;
    if (entities->plan->every) {
        count_in(entities, entity, value);
    }
}

void topn_entity_close(struct topn_entities *entities, struct topn_entity *entity)
{
    if (!entities->plan->every) {
        count_in(entities, entity, entity->best);
    }
    struct cell cell = reduce_result(&entity->total, &entities->plan->agg);
    if (entities->plan->agg.type == PLAN_INT) {
        entity->result.i = cell.number.i;
    } else {
        entity->result.f = cell.number.f;
    }
}

struct cell topn_entity_result(const struct topn_entities *entities,
                               const struct topn_entity *entity)
{
    return cell_of(entities->plan, entity->result);
}

struct slice topn_entity_tags(const struct topn_entity *entity)
{
    return slice_of(entity->group.key.ptr, entity->group.key.len - GROUP_SIZE);
}

static int compare_cells(const struct cell *a, const struct cell *b, struct arena *arena)
{
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    struct key key_a = key_of_cell(a, arena);
    struct key key_b = key_of_cell(b, arena);
    return key_compare(&key_a, &key_b);
}

static int compare_tags(const struct topn_entity *a, const struct topn_entity *b,
                        struct arena *arena)
{
    struct slice rest_a = topn_entity_tags(a);
    struct slice rest_b = topn_entity_tags(b);
    while (rest_a.len > 0 && rest_b.len > 0) {
        struct cell cell_a = tuple_take(&rest_a);
        struct cell cell_b = tuple_take(&rest_b);
        int order = compare_cells(&cell_a, &cell_b, arena);
        if (order != 0) {
            return order;
        }
    }
    return (rest_a.len > 0) - (rest_b.len > 0);
}

/* Different tags may have equal keys (arrays of which one has an element in two spellings). */
static int compare_spelled(struct slice a, struct slice b)
{
    int order = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

bool topn_entity_before(const struct topn_entities *entities, const struct topn_entity *a,
                        const struct topn_entity *b)
{
    int order = topn_plan_compare(entities->plan, a->result, b->result);
    order = order != 0 ? order : topn_plan_compare(entities->plan, a->best, b->best);
    order = order != 0 ? order : compare_tags(a, b, entities->arena);
    order = order != 0 ? order : (a->of_group > b->of_group) - (a->of_group < b->of_group);
    return order != 0 ? order < 0 : compare_spelled(a->group.key, b->group.key) < 0;
}
