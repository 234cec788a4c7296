// SPDX-License-Identifier: Apache-2.0
/*
 * Draining takes the worst row off the heap, a row a step, and puts it behind the heap, into the
 * place that has just become free, so the items end up best first.
 */
#include "merge/top.h"

#include "merge/shape.h"

#include <math.h>

/* 0 null, 1 NaN, 2 number. */
static int class_of(const struct cell *cell)
{
    if (cell->kind == CELL_FLOAT) {
        return isnan(cell->number.f) ? 1 : 2;
    }
    return cell->kind == CELL_INT ? 2 : 0;
}

static int compare_ints(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_floats(double a, double b)
{
    return (a > b) - (a < b);
}

/* Neither is rounded to the other's type. */
static int compare_mixed(int64_t a, double b)
{
    if (b >= 0x1p63) {
        return -1;
    }
    if (b < -0x1p63) {
        return 1;
    }
    int64_t whole = (int64_t)b; /* towards zero; a double can hold it, as it holds b */
    int order = compare_ints(a, whole);
    return order != 0 ? order : compare_floats((double)whole, b);
}

int top_compare(const struct cell *a, const struct cell *b)
{
    int class_a = class_of(a);
    int class_b = class_of(b);
    if (class_a != class_b || class_a != 2) {
        return class_a - class_b;
    }
    if (a->kind == CELL_INT) {
        return b->kind == CELL_INT ? compare_ints(a->number.i, b->number.i)
                                   : compare_mixed(a->number.i, b->number.f);
    }
    return b->kind == CELL_INT ? -compare_mixed(b->number.i, a->number.f)
                               : compare_floats(a->number.f, b->number.f);
}

/* >0: a is better. */
static int compare_values(const struct top *top, const struct cell *a, const struct cell *b)
{
    int order = top_compare(a, b);
    return top->plan->top.ascending ? -order : order;
}

static bool is_worse(const void *owner, const void *a, const void *b)
{
    const struct top_row *row_a = a;
    const struct top_row *row_b = b;
    int order = compare_values(owner, &row_a->value, &row_b->value);
    return order != 0 ? order < 0 : row_a->place > row_b->place;
}

static bool begin(struct sink *sink, const struct layout *layout, struct error *err)
{
    struct top *top = (struct top *)sink;
    top->column_count = layout->tag_count + layout->field_count;
    top->field = shape_find_field(layout, top->plan->top.field);
    return top->stage.next->begin(top->stage.next, layout, err);
}

static bool no_field(const struct top *top, struct error *err)
{
    struct slice field = top->plan->top.field;
    if (top->plan->mode != PLAN_ROWS) {
        return error_set(err, ERROR_DATA_LOSS,
                         "top reduced frames: ApplyTopToReduce: field \"%.*s\" not present in "
                         "reduced schema",
                         SLICE_ARG(field));
    }
    return error_set(err, ERROR_DATA_LOSS,
                     "apply top to %srows: top field %.*s not found in schema",
                     top->plan->group_count > 1 ? "multi-group " : "", SLICE_ARG(field));
}

static void keep(struct top *top, struct top_row *to, const struct row *row)
{
    to->value = row->cells[top->field];
    to->value.bytes = slice_of(NULL, 0);
    to->place = top->places;
    to->row = *row;
    to->row.cells = to->kept.cells;
    for (size_t i = 0; i < top->column_count; i++) {
        kept_put(&to->kept, i, &row->cells[i], top->arena);
    }
}

static void reserve(struct top *top)
{
    if (top->heap.count < top->capacity) {
        return;
    }
    size_t capacity = top->capacity == 0 ? 16 : 2 * top->capacity;
    void **items = arena_array_raw(top->arena, void *, capacity);
    if (top->heap.count > 0) {
        memcpy(items, top->heap.items, top->heap.count * sizeof *items);
    }
    top->heap.items = items;
    top->capacity = capacity;
}

static void add(struct top *top, const struct row *row)
{
    reserve(top);
    struct top_row *to = arena_new(top->arena, struct top_row);
    to->kept = kept_new(top->column_count, top->arena);
    keep(top, to, row);
    heap_push(&top->heap, to);
}

static bool row(struct sink *sink, const struct row *row, struct error *err)
{
    struct top *top = (struct top *)sink;
    if (top->field == SHAPE_NOWHERE) {
        return no_field(top, err);
    }
    top->places++;
    if (top->heap.count < (uint64_t)top->plan->top.number) {
        add(top, row);
        return true;
    }
    struct top_row *worst = heap_top(&top->heap);
    if (compare_values(top, &row->cells[top->field], &worst->value) > 0) {
        keep(top, worst, row);
        heap_sift_top(&top->heap);
    }
    return true;
}

static enum stage_state drain(struct stage *stage, struct error *err)
{
    struct top *top = (struct top *)stage;
    struct top_row *worst = heap_pop(&top->heap);
    if (worst != NULL) {
        top->heap.items[top->heap.count] = worst;
        top->ranked++;
        return STAGE_MORE;
    }
    if (top->given == top->ranked) {
        return STAGE_DONE;
    }
    const struct top_row *best = top->heap.items[top->given++];
    return top->stage.next->row(top->stage.next, &best->row, err) ? STAGE_MORE : STAGE_FAILED;
}

void top_init(struct top *top, const struct plan *plan, struct arena *arena, struct sink *next)
{
    *top = (struct top){
        .stage = {.sink = {.begin = begin, .row = row}, .next = next, .drain = drain},
        .plan = plan,
        .arena = arena,
    };
    top->heap = (struct heap){.less = is_worse, .owner = top};
}
