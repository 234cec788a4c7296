// SPDX-License-Identifier: Apache-2.0
/* Rows in (FOLD), groups out. Draining first fills a heap, a group a step, then empties it. */
#include "merge/fold.h"

void fold_shape(struct fold *fold, const struct layout *in)
{
    if (fold->in != NULL) {
        return;
    }
    fold->in = in;
    shape_make(&fold->shape, fold->plan, in, fold->arena);
    fold->complete = shape_check(&fold->shape, fold->plan, NULL);
    fold->keys = arena_array(fold->arena, struct cell, fold->plan->key_count);
    fold->cells = arena_array(fold->arena, struct cell, fold->shape.out.tag_count + 1);
}

static bool begin(struct sink *sink, const struct layout *layout, struct error *err)
{
    struct fold *fold = (struct fold *)sink;
    fold_shape(fold, layout);
    return fold->stage.next->begin(fold->stage.next, &fold->shape.out, err);
}

struct folded *fold_find(struct fold *fold, struct slice key, uint64_t hash)
{
    struct folded *folded = (struct folded *)group_put(&fold->table, key, hash);
    if (!folded->ranked && folded->carried.cells == NULL) {
        folded->carried = kept_new(fold->shape.carried_count, fold->arena);
    }
    return folded;
}

void fold_carry(struct fold *fold, struct folded *folded, const struct rank *rank,
                const struct cell *cells)
{
    struct key key = rank->key;
    if (key.len > 8) {
        key.ptr = kept_bytes(&folded->rank_room, slice_of(key.ptr, key.len), fold->arena).ptr;
    }
    folded->rank = *rank;
    folded->rank.key = key;
    folded->ranked = true;
    for (size_t i = 0; i < fold->shape.carried_count; i++) {
        kept_put(&folded->carried, i, &cells[fold->shape.carried[i]], fold->arena);
    }
}

static struct key sort_key(const struct fold *fold, const struct row *row)
{
    return fold->plan->order == PLAN_BY_TIME
               ? key_of_int(row->timestamp)
               : key_of_cell(&row->cells[fold->shape.order], fold->scratch);
}

/* The sort keys of arrays are spelled out in the scratch region, where they do not stay. */
static void rank_row(struct fold *fold, struct folded *folded, const struct row *row)
{
    const struct arena_mark mark = arena_mark(fold->scratch);
    const struct rank rank = {.key = sort_key(fold, row),
                              .group = row->group,
                              .time = row->timestamp,
                              .series = row->series};
    if (fold_is_first(fold, folded, &rank)) {
        fold_carry(fold, folded, &rank, row->cells);
    }
    if (fold->scratch->at != mark.at) {
        arena_rewind(fold->scratch, mark);
    }
}

static bool row(struct sink *sink, const struct row *row, struct error *err)
{
    struct fold *fold = (struct fold *)sink;
    if (!fold->complete) {
        return shape_check(&fold->shape, fold->plan, err);
    }
    tuple_clear(&fold->tuple);
    for (size_t i = 0; i < fold->plan->key_count; i++) {
        tuple_put(&fold->tuple, &row->cells[fold->shape.keys[i]]);
    }
    struct slice key = tuple_since(&fold->tuple, 0);
    struct folded *folded = fold_find(fold, key, group_hash(&fold->table, key));
    rank_row(fold, folded, row);
    reduce_value(&folded->total, &fold->plan->agg, &row->cells[fold->shape.value], fold->arena);
    return true;
}

static bool ranks_before(const void *owner, const void *a, const void *b)
{
    const struct fold *fold = owner;
    const struct folded *folded_a = a;
    const struct folded *folded_b = b;
    return rank_compare(&folded_a->rank, &folded_b->rank, fold->plan->descending) < 0;
}

/* Looks at the next slots, up to a group; false when there are no more. */
static bool gather(struct fold *fold)
{
    if (fold->order.items == NULL) {
        fold->order = (struct heap){.less = ranks_before, .owner = fold};
        fold->order.items = arena_array(fold->arena, void *, fold->table.count);
    }
    while (fold->gathered < fold->table.capacity) {
        struct group *group = fold->table.slots[fold->gathered++].group;
        if (group != NULL) {
            heap_push(&fold->order, group);
            return true;
        }
    }
    return false;
}

static bool give(struct fold *fold, const struct folded *folded, struct error *err)
{
    const struct shape *shape = &fold->shape;
    struct slice spelled = folded->group.key;
    for (size_t key = 0; key < fold->plan->key_count; key++) {
        fold->keys[key] = tuple_take(&spelled);
    }
    for (size_t i = 0; i < shape->out.tag_count; i++) {
        const struct shape_tag *tag = &shape->tags[i];
        fold->cells[i] = tag->is_key ? fold->keys[tag->place] : folded->carried.cells[tag->place];
    }
    fold->cells[shape->out.tag_count] = reduce_result(&folded->total, &fold->plan->agg);
    const struct row row = {.cells = fold->cells};
    return fold->stage.next->row(fold->stage.next, &row, err);
}

static enum stage_state drain(struct stage *stage, struct error *err)
{
    struct fold *fold = (struct fold *)stage;
    if (gather(fold)) {
        return STAGE_MORE;
    }
    const struct folded *folded = heap_pop(&fold->order);
    if (folded == NULL) {
        return STAGE_DONE;
    }
    return give(fold, folded, err) ? STAGE_MORE : STAGE_FAILED;
}

void fold_init(struct fold *fold, const struct plan *plan, struct arena *arena,
               struct arena *scratch, struct sink *next)
{
    *fold = (struct fold){
        .stage = {.sink = {.begin = begin, .row = row}, .next = next, .drain = drain},
        .plan = plan,
        .arena = arena,
        .scratch = scratch,
    };
    group_init(&fold->table, sizeof(struct folded), arena);
    tuple_init(&fold->tuple, arena);
}
