// SPDX-License-Identifier: Apache-2.0
/* Made once, from the plan and the first layout that is known. */
#include "merge/shape.h"

size_t shape_find_tag(const struct layout *layout, const struct plan_tag *tag)
{
    for (size_t i = 0; i < layout->tag_count; i++) {
        if (slice_equal(layout->columns[i].name, tag->name) &&
            slice_equal(layout->columns[i].family, tag->family)) {
            return i;
        }
    }
    return SHAPE_NOWHERE;
}

size_t shape_find_field(const struct layout *layout, struct slice name)
{
    for (size_t i = layout->field_count; i > 0; i--) {
        size_t place = layout->tag_count + i - 1;
        if (slice_equal(layout->columns[place].name, name)) {
            return place;
        }
    }
    return SHAPE_NOWHERE;
}

/* The key that a column shows, or key_count. */
static size_t key_of_column(const struct plan *plan, const struct layout_column *column)
{
    size_t key = 0;
    while (key < plan->key_count && !(slice_equal(plan->keys[key].name, column->name) &&
                                      slice_equal(plan->keys[key].family, column->family))) {
        key++;
    }
    return key;
}

static void add_tag(struct shape *shape, const struct plan *plan, const struct layout *in,
                    size_t place)
{
    size_t key = key_of_column(plan, &in->columns[place]);
    struct shape_tag *tag = &shape->tags[shape->out.tag_count];
    shape->out.columns[shape->out.tag_count++] = in->columns[place];
    if (key < plan->key_count) {
        *tag = (struct shape_tag){.is_key = true, .place = key};
    } else {
        *tag = (struct shape_tag){.is_key = false, .place = shape->carried_count};
        shape->carried[shape->carried_count++] = place;
    }
}

void shape_make(struct shape *shape, const struct plan *plan, const struct layout *in,
                struct arena *arena)
{
    *shape = (struct shape){
        .keys = arena_array(arena, size_t, plan->key_count),
        .carried = arena_array(arena, size_t, in->tag_count),
        .value = shape_find_field(in, plan->agg.field),
        .order = plan->order == PLAN_BY_TAG ? shape_find_tag(in, &plan->order_tag) : SHAPE_NOWHERE,
        .out.columns = arena_array(arena, struct layout_column, in->tag_count + 1),
        .tags = arena_array(arena, struct shape_tag, in->tag_count),
    };
    for (size_t i = 0; i < plan->key_count; i++) {
        shape->keys[i] = shape_find_tag(in, &plan->keys[i]);
    }
    for (size_t i = 0; i < in->tag_count; i++) {
        if (!in->columns[i].hidden) {
            add_tag(shape, plan, in, i);
        }
    }
    shape->out.field_count = 1;
    shape->out.columns[shape->out.tag_count] = (struct layout_column){.name = plan->agg.field};
}

bool shape_no_key(const struct plan *plan, size_t key, struct error *err)
{
    return error_set(err, ERROR_DATA_LOSS,
                     "reduce raw frames: key tag \"%.*s\" not present in partial schema",
                     SLICE_ARG(plan->keys[key].name));
}

bool shape_no_value(const struct plan *plan, struct error *err)
{
    return error_set(err, ERROR_DATA_LOSS,
                     "reduce raw frames: agg output column \"%.*s\" not present in partial schema",
                     SLICE_ARG(plan->agg.field));
}

bool shape_check(const struct shape *shape, const struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->key_count; i++) {
        if (shape->keys[i] == SHAPE_NOWHERE) {
            return shape_no_key(plan, i, err);
        }
    }
    if (shape->value == SHAPE_NOWHERE) {
        return shape_no_value(plan, err);
    }
    if (plan->order == PLAN_BY_TAG && shape->order == SHAPE_NOWHERE) {
        return error_set(err, ERROR_DATA_LOSS,
                         "row merge: OrderBy tag %.*s.%.*s not found in merged-batch schema",
                         SLICE_ARG(plan->order_tag.family), SLICE_ARG(plan->order_tag.name));
    }
    return true;
}
