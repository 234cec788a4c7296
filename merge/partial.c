// SPDX-License-Identifier: Apache-2.0
/* Binding a partial frame's columns to the fold, and adding its rows batch by batch. */
#include "merge/partial.h"

#include "merge/source.h"

#define BATCH        64
#define COUNT_SUFFIX "__agg_count"

struct partial {
    struct fold *fold;
    struct source source;       /* the tags, by the layout of the fold's rows */
    const struct column *value; /* borrow: view */
    const struct column *count; /* borrow: view; NULL: not MEAN, or not sent */
};

struct spelled {
    size_t start; /* in the fold's tuple */
    size_t len;
    uint64_t hash;
};

static bool is_named(const struct column *column, struct slice name, const char *suffix)
{
    size_t len = strlen(suffix);
    return column->role == COLUMN_FIELD && column->name.len == name.len + len &&
           slice_equal(slice_of(column->name.ptr, name.len), name) &&
           memcmp(column->name.ptr + name.len, suffix, len) == 0;
}

static const struct column *find_field(const struct view *view, struct slice name,
                                       const char *suffix)
{
    for (size_t i = 0; i < view->column_count; i++) {
        if (is_named(&view->columns[i], name, suffix)) {
            return &view->columns[i];
        }
    }
    return NULL;
}

/* The first frame tells what all look like, unless the plan does. */
static bool bind_tags(struct partial *partial, struct error *err)
{
    struct fold *fold = partial->fold;
    const struct layout *planned = fold->plan->layout;
    if (fold->in == NULL) {
        fold_shape(fold, planned != NULL
                             ? planned
                             : source_layout(&partial->source, fold->plan, fold->arena));
    }
    bool bound = planned != NULL ? source_bind_named(&partial->source, fold->in, fold->scratch, err)
                                 : source_bind_same(&partial->source, fold->in, fold->scratch, err);
    return bound || error_prefix(err, "reduce raw frames");
}

static bool bind(struct partial *partial, const struct view *view, struct error *err)
{
    const struct fold *fold = partial->fold;
    if (!bind_tags(partial, err)) {
        return false;
    }
    const struct slice field = fold->plan->agg.field;
    partial->value = find_field(view, field, "");
    if (partial->value == NULL) {
        return shape_no_value(fold->plan, err);
    }
    if (fold->plan->agg.function == PLAN_MEAN) {
        partial->count = find_field(view, field, COUNT_SUFFIX);
    }
    for (size_t i = 0; i < fold->plan->key_count; i++) {
        size_t place = fold->shape.keys[i];
        if (place == SHAPE_NOWHERE || partial->source.columns[place] == NULL) {
            return shape_no_key(fold->plan, i, err);
        }
    }
    return true;
}

/* Constant cells were read when the columns were bound. */
static bool read_tag(struct partial *partial, size_t place, size_t row, struct error *err)
{
    const struct column *column = partial->source.columns[place];
    return column == NULL || column->constant ||
           cell_read(column, row, &partial->source.cells[place], err);
}

static bool spell(struct partial *partial, size_t row, struct spelled *spelled, struct error *err)
{
    struct fold *fold = partial->fold;
    spelled->start = fold->tuple.len;
    for (size_t i = 0; i < fold->plan->key_count; i++) {
        size_t place = fold->shape.keys[i];
        if (!read_tag(partial, place, row, err)) {
            return false;
        }
        tuple_put(&fold->tuple, &partial->source.cells[place]);
    }
    struct slice key = tuple_since(&fold->tuple, spelled->start);
    spelled->len = key.len;
    spelled->hash = group_hash(&fold->table, key);
    group_prefetch(&fold->table, spelled->hash);
    return true;
}

static bool carry(struct partial *partial, struct folded *folded, size_t row, struct error *err)
{
    struct fold *fold = partial->fold;
    const struct rank rank = {
        .group = partial->source.group, .time = (int64_t)partial->source.rank, .series = row};
    if (!fold_is_first(fold, folded, &rank)) {
        return true;
    }
    for (size_t i = 0; i < fold->shape.carried_count; i++) {
        if (!read_tag(partial, fold->shape.carried[i], row, err)) {
            return false;
        }
    }
    fold_carry(fold, folded, &rank, partial->source.cells);
    return true;
}

static bool add(struct partial *partial, const struct spelled *spelled, size_t row,
                struct error *err)
{
    struct fold *fold = partial->fold;
    struct slice key = slice_of(fold->tuple.bytes + spelled->start, spelled->len);
    struct folded *folded = fold_find(fold, key, spelled->hash);
    struct cell value;
    struct cell count;
    if (!carry(partial, folded, row, err) || !cell_read(partial->value, row, &value, err) ||
        (partial->count != NULL && !cell_read(partial->count, row, &count, err))) {
        return false;
    }
    reduce_partial(&folded->total, &fold->plan->agg, &value, partial->count != NULL ? &count : NULL,
                   fold->arena);
    return true;
}

static bool add_batch(struct partial *partial, size_t first, size_t count, struct error *err)
{
    struct spelled spelled[BATCH];
    tuple_clear(&partial->fold->tuple);
    for (size_t i = 0; i < count; i++) {
        if (!spell(partial, first + i, &spelled[i], err)) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!add(partial, &spelled[i], first + i, err)) {
            return false;
        }
    }
    return true;
}

bool partial_fold(struct fold *fold, const struct view *view, size_t group, size_t rank,
                  struct error *err)
{
    struct partial partial = {.fold = fold,
                              .source = {.view = *view, .group = group, .rank = rank}};
    if (!bind(&partial, view, err)) {
        return false;
    }
    for (size_t row = 0; row < view->row_count && !arena_over(fold->arena); row += BATCH) {
        size_t left = view->row_count - row;
        if (!add_batch(&partial, row, left < BATCH ? left : BATCH, err)) {
            return false;
        }
    }
    return true;
}
