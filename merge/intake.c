// SPDX-License-Identifier: Apache-2.0
/* Rows are gathered, then walked over three times: for their hashes, groups and totals. */
#include "merge/intake.h"

static bool begin(struct sink *sink, const struct layout *layout, struct error *err)
{
    struct intake *intake = (struct intake *)sink;
    struct fold *fold = intake->fold;
    intake->column_count = layout->tag_count + layout->field_count;
    intake->rows = arena_array(fold->arena, struct row, INTAKE_ROWS);
    intake->cells = arena_array(fold->arena, struct cell, INTAKE_ROWS * intake->column_count);
    intake->keys = arena_array(fold->arena, struct cell, INTAKE_ROWS * fold->plan->key_count);
    return fold->stage.sink.begin(&fold->stage.sink, layout, err);
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

static void hash_keys(struct intake *intake)
{
    const struct fold *fold = intake->fold;
    for (size_t i = 0; i < intake->count; i++) {
        const struct cell *keys = &intake->keys[i * fold->plan->key_count];
        uint64_t hash = 0;
        for (size_t key = 0; key < fold->plan->key_count; key++) {
            hash = tuple_mix(hash, group_hash_cell(&fold->table, &keys[key]));
        }
        intake->hashes[i] = hash;
        group_prefetch(&fold->table, hash);
    }
}

void intake_settle(struct intake *intake)
{
    struct fold *fold = intake->fold;
    hash_keys(intake);
    for (size_t i = 0; i < intake->count; i++) {
        intake->guesses[i] = (struct folded *)group_guess(&fold->table, intake->hashes[i]);
    }
    for (size_t i = 0; i < intake->count; i++) {
        const struct cell *keys = &intake->keys[i * fold->plan->key_count];
        const struct row *row = &intake->rows[i];
        struct folded *folded = fold_find(fold, intake->guesses[i], keys, intake->hashes[i]);
        rank_row(fold, folded, row);
        reduce_value(&folded->total, &fold->plan->agg, &row->cells[fold->shape.value], fold->arena);
    }
    intake->count = 0;
}

static bool row(struct sink *sink, const struct row *row, struct error *err)
{
    struct intake *intake = (struct intake *)sink;
    struct fold *fold = intake->fold;
    if (!fold->complete) {
        return shape_check(&fold->shape, fold->plan, err);
    }
    struct cell *cells = &intake->cells[intake->count * intake->column_count];
    struct cell *keys = &intake->keys[intake->count * fold->plan->key_count];
    memcpy(cells, row->cells, intake->column_count * sizeof *cells);
    for (size_t i = 0; i < fold->plan->key_count; i++) {
        keys[i] = cells[fold->shape.keys[i]];
        __builtin_prefetch(keys[i].bytes.ptr);
    }
    intake->rows[intake->count] = *row;
    intake->rows[intake->count].cells = cells;
    if (++intake->count == INTAKE_ROWS) {
        intake_settle(intake);
    }
    return true;
}

void intake_init(struct intake *intake, struct fold *fold)
{
    *intake = (struct intake){.sink = {.begin = begin, .row = row}, .fold = fold};
}
