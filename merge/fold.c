// SPDX-License-Identifier: Apache-2.0
/* What groups remember, and how they are given out: into a heap, a group a step, and out again. */
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

void fold_carry(struct fold *fold, struct folded *folded, const struct rank *rank,
                const struct cell *cells)
{
    if (folded->first == NULL) {
        folded->first = arena_new(fold->arena, struct fold_first);
        folded->first->carried = kept_new(fold->shape.carried_count, fold->arena);
    }
    struct fold_first *first = folded->first;
    struct key key = rank->key;
    if (key.len > 8) {
        key.ptr = kept_bytes(&first->room, slice_of(key.ptr, key.len), fold->arena).ptr;
    }
    folded->head = key.head;
    first->rank = *rank;
    first->rank.key = key;
    for (size_t i = 0; i < fold->shape.carried_count; i++) {
        kept_put(&first->carried, i, &cells[fold->shape.carried[i]], fold->arena);
    }
}

/* Records have different ranks, unless a node gives one in two slices: then the keys decide, as the
 * table is walked in another order each time. */
static bool spelled_before(struct slice a, struct slice b)
{
    const size_t shared = a.len < b.len ? a.len : b.len;
    const int order = shared == 0 ? 0 : memcmp(a.ptr, b.ptr, shared);
    return order != 0 ? order < 0 : a.len < b.len;
}

static bool ranks_before(const void *owner, const void *a, const void *b)
{
    const struct fold *fold = owner;
    const struct folded *folded_a = a;
    const struct folded *folded_b = b;
    if (folded_a->head != folded_b->head) {
        return (folded_a->head < folded_b->head) != fold->descending;
    }
    const int order =
        rank_compare(&folded_a->first->rank, &folded_b->first->rank, fold->descending);
    return order != 0 ? order < 0 : spelled_before(folded_a->group.key, folded_b->group.key);
}

/* One more group on the heap; false when all are. */
static bool gather(struct fold *fold)
{
    if (fold->order.items == NULL) {
        fold->order = (struct heap){.less = ranks_before, .owner = fold};
        fold->order.items = arena_array_raw(fold->arena, void *, fold->table.count + 1);
    }
    struct group *group = group_next(&fold->table, &fold->walk);
    if (group == NULL) {
        return false;
    }
    heap_push(&fold->order, group);
    return true;
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
        fold->cells[i] =
            tag->is_key ? fold->keys[tag->place] : folded->first->carried.cells[tag->place];
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
        .stage = {.sink = {.begin = begin}, .next = next, .drain = drain},
        .plan = plan,
        .arena = arena,
        .scratch = scratch,
        .descending = plan->descending && plan->mode == PLAN_FOLD,
    };
    group_init(&fold->table, sizeof(struct folded), arena);
}
