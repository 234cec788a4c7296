// SPDX-License-Identifier: Apache-2.0
/* A key tag that the rows lack is an error only when there are rows. */
#include "merge/first.h"

#include "merge/shape.h"

static bool begin(struct sink *sink, const struct layout *layout, struct error *err)
{
    struct first *first = (struct first *)sink;
    first->keys = arena_array(first->table.arena, size_t, first->plan->key_count);
    first->cells = arena_array(first->table.arena, struct cell, first->plan->key_count);
    for (size_t i = 0; i < first->plan->key_count; i++) {
        first->keys[i] = shape_find_tag(layout, &first->plan->keys[i]);
    }
    return first->stage.next->begin(first->stage.next, layout, err);
}

static bool no_key(const struct first *first, size_t key, struct error *err)
{
    return error_set(
        err, ERROR_DATA_LOSS, "apply group-by to %srows: groupby tag %.*s not found in schema",
        first->plan->group_count > 1 ? "multi-group " : "", SLICE_ARG(first->plan->keys[key].name));
}

static bool row(struct sink *sink, const struct row *row, struct error *err)
{
    struct first *first = (struct first *)sink;
    uint64_t hash = 0;
    first->rows++;
    for (size_t i = 0; i < first->plan->key_count; i++) {
        if (first->keys[i] == SHAPE_NOWHERE) {
            return no_key(first, i, err);
        }
        first->cells[i] = row->cells[first->keys[i]];
        hash = tuple_mix(hash, group_hash_cell(&first->table, &first->cells[i]));
    }
    size_t known = first->table.count;
    group_put_cells(&first->table, first->cells, first->plan->key_count, hash);
    return first->table.count == known || first->stage.next->row(first->stage.next, row, err);
}

void first_init(struct first *first, const struct plan *plan, struct arena *arena,
                struct sink *next)
{
    *first =
        (struct first){.stage = {.sink = {.begin = begin, .row = row}, .next = next}, .plan = plan};
    group_init(&first->table, sizeof(struct group), arena);
}
