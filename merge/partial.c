// SPDX-License-Identifier: Apache-2.0
/* Binding a partial frame's columns to the fold, and adding its rows batch by batch. */
#include "merge/partial.h"

#include "merge/source.h"

#include <assert.h>

#define BATCH        64
#define ROW_STEPS    4 /* what a row costs */
#define COUNT_SUFFIX "__agg_count"

/* The keys of some rows. */
struct batch {
    size_t first;
    size_t count;
    struct cell *keys; /* borrow: scratch; key_count for each row */
    uint64_t hashes[BATCH];
    struct folded *guesses[BATCH];
};

struct partial {
    struct fold *fold;
    struct source source;       /* the tags, by the layout of the fold's rows */
    const struct column *value; /* borrow: view */
    const struct column *count; /* borrow: view; NULL: not MEAN, or not sent */
    struct key key;             /* of the frame's ranks */
    size_t row;                 /* the first that is not in */
    struct batch batch;
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

/* A constant is read and hashed once for all rows. */
static void add_constant(struct partial *partial, size_t key)
{
    struct batch *batch = &partial->batch;
    const struct fold *fold = partial->fold;
    size_t stride = fold->plan->key_count;
    const struct cell *cell = &partial->source.cells[fold->shape.keys[key]];
    uint64_t hash = group_hash_cell(&fold->table, cell);
    for (size_t i = 0; i < batch->count; i++) {
        batch->keys[i * stride + key] = *cell;
        batch->hashes[i] = tuple_mix(batch->hashes[i], hash);
    }
}

static bool add_column(struct partial *partial, size_t key, struct error *err)
{
    struct batch *batch = &partial->batch;
    const struct fold *fold = partial->fold;
    size_t stride = fold->plan->key_count;
    const struct column *column = partial->source.columns[fold->shape.keys[key]];
    for (size_t i = 0; i < batch->count; i++) {
        struct cell *cell = &batch->keys[i * stride + key];
        if (!cell_read(column, batch->first + i, cell, err)) {
            return false;
        }
        uint64_t hash = group_hash_cell(&fold->table, cell);
        batch->hashes[i] = tuple_mix(batch->hashes[i], hash);
    }
    return true;
}

/* The keys of the next rows, column by column. */
static bool read_batch(struct partial *partial, size_t first, struct error *err)
{
    struct batch *batch = &partial->batch;
    const struct fold *fold = partial->fold;
    size_t left = partial->source.view.row_count - first;
    batch->first = first;
    batch->count = left < BATCH ? left : BATCH;
    memset(batch->hashes, 0, sizeof batch->hashes);
    for (size_t key = 0; key < fold->plan->key_count; key++) {
        if (partial->source.columns[fold->shape.keys[key]]->constant) {
            add_constant(partial, key);
        } else if (!add_column(partial, key, err)) {
            return false;
        }
    }
    for (size_t i = 0; i < batch->count; i++) {
        group_prefetch(&fold->table, batch->hashes[i]);
    }
    for (size_t i = 0; i < batch->count; i++) {
        batch->guesses[i] = (struct folded *)group_guess(&fold->table, batch->hashes[i]);
    }
    return true;
}

/* Rows of one frame have ascending ranks: of those the first to reach a group decides. */
static bool carry(struct partial *partial, struct folded *folded, size_t row, struct error *err)
{
    struct fold *fold = partial->fold;
    if (folded->first != NULL && folded->head <= partial->key.head) {
        return true;
    }
    for (size_t i = 0; i < fold->shape.carried_count; i++) {
        if (!read_tag(partial, fold->shape.carried[i], row, err)) {
            return false;
        }
    }
    const struct rank rank = {.key = partial->key, .series = row};
    fold_carry(fold, folded, &rank, partial->source.cells);
    return true;
}

static bool add_row(struct partial *partial, struct folded *folded, size_t row, struct error *err)
{
    struct fold *fold = partial->fold;
    struct reduce *total = &folded->total;
    struct cell value;
    struct cell count;
    if (!carry(partial, folded, row, err) || !cell_read(partial->value, row, &value, err) ||
        (partial->count != NULL && !cell_read(partial->count, row, &count, err))) {
        return false;
    }
    fold->open -= reduce_is_open(total);
    reduce_partial(total, &fold->plan->agg, &value, partial->count != NULL ? &count : NULL,
                   fold->arena);
    fold->open += reduce_is_open(total);
    return true;
}

static bool add_batch(struct partial *partial, struct error *err)
{
    const struct batch *batch = &partial->batch;
    struct fold *fold = partial->fold;
    for (size_t i = 0; i < batch->count; i++) {
        const struct cell *key = &batch->keys[i * fold->plan->key_count];
        struct folded *folded = fold_find(fold, batch->guesses[i], key, batch->hashes[i]);
        if (!add_row(partial, folded, batch->first + i, err)) {
            return false;
        }
    }
    return true;
}

struct partial *partial_begin(struct fold *fold, const struct view *view, size_t group, size_t rank,
                              struct error *err)
{
    assert(group <= INT32_MAX && rank <= UINT32_MAX);
    struct partial *partial = arena_new(fold->scratch, struct partial);
    partial->fold = fold;
    partial->source = (struct source){.view = *view, .group = group, .rank = rank};
    partial->key = key_of_int((int64_t)(group << 32 | rank));
    if (!bind(partial, view, err)) {
        return NULL;
    }
    partial->batch.keys = arena_array(fold->scratch, struct cell, BATCH * fold->plan->key_count);
    return partial;
}

enum progress partial_some(struct partial *partial, size_t *left, struct error *err)
{
    const struct arena *arena = partial->fold->arena;
    const size_t count = partial->source.view.row_count;
    for (; partial->row<count && * left> 0 && !arena_over(arena); partial->row += BATCH) {
        if (!read_batch(partial, partial->row, err) || !add_batch(partial, err)) {
            return PROGRESS_FAILED;
        }
        progress_spend(left, (size_t)BATCH * ROW_STEPS);
    }
    return partial->row < count && !arena_over(arena) ? PROGRESS_MORE : PROGRESS_DONE;
}
