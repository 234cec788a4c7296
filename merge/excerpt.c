// SPDX-License-Identifier: Apache-2.0
/*
 * Copies of one record have one key, so they meet in one window, and a record counts once however
 * many copies there are. Of a key's rows only those are counted that ascend by series and time:
 * these are surely different. Rows that do not ascend are taken along and counted for nothing.
 */
#include "merge/excerpt.h"

#define MESSAGE_MIN ((size_t)64 << 10)

static size_t row_at(const struct excerpt *excerpt, size_t place)
{
    return order_row(excerpt->order, excerpt->first + place);
}

bool excerpt_pays(const struct excerpt *excerpt, size_t part, size_t message_bytes)
{
    return message_bytes >= MESSAGE_MIN && excerpt->count <= excerpt->view->row_count / part;
}

/* The rows of one key that are surely different records. */
struct records {
    const struct column *series; /* borrow: view */
    const struct column *time;   /* borrow: view */
    uint64_t last_series;
    int64_t last_time;
    uint64_t count;
};

static void add_row(struct records *records, size_t row, bool first)
{
    const uint64_t series = column_bits(records->series, row);
    const int64_t time = column_int(records->time, row);
    if (first || series > records->last_series ||
        (series == records->last_series && time > records->last_time)) {
        records->count++;
        records->last_series = series;
        records->last_time = time;
    }
}

size_t excerpt_needed(const struct view *view, const struct order *order, uint64_t wanted,
                      size_t most)
{
    struct records records = {.series = view_role(view, COLUMN_SERIES),
                              .time = view_role(view, COLUMN_TIMESTAMP)};
    struct key keys[2]; /* of the row at this place and the one before, by turns */
    size_t place = 0;
    for (; place < order->count && place <= most; place++) {
        const size_t row = order_row(order, place);
        order_key(order, row, &keys[place % 2]);
        const bool first = place == 0 || key_compare(&keys[0], &keys[1]) != 0;
        if (first && records.count >= wanted) {
            break;
        }
        add_row(&records, row, first);
    }
    return place;
}

static void copy_validity(const struct excerpt *excerpt, const struct column *from,
                          struct column *to, size_t stored, struct arena *arena)
{
    to->null_count = 0;
    to->validity = NULL;
    if (from->validity == NULL) {
        return;
    }
    uint8_t *bits = arena_zalloc(arena, (stored + 7) / 8, 1);
    for (size_t i = 0; i < stored; i++) {
        if (column_is_null(from, row_at(excerpt, i))) {
            to->null_count++;
        } else {
            bits[i >> 3] |= (uint8_t)(1u << (i & 7));
        }
    }
    to->validity = bits;
}

static void copy_numbers(const struct excerpt *excerpt, const struct column *from,
                         struct column *to, size_t stored, struct arena *arena)
{
    uint64_t *values = arena_array_raw(arena, uint64_t, stored);
    for (size_t i = 0; i < stored; i++) {
        values[i] = column_bits(from, row_at(excerpt, i));
    }
    to->values = (const uint8_t *)values;
}

static void copy_texts(const struct excerpt *excerpt, const struct column *from, struct column *to,
                       size_t stored, struct arena *arena)
{
    uint32_t *starts = arena_array_raw(arena, uint32_t, stored + 1);
    starts[0] = 0;
    for (size_t i = 0; i < stored; i++) {
        starts[i + 1] = starts[i] + (uint32_t)column_bytes(from, row_at(excerpt, i)).len;
    }
    uint8_t *values = arena_alloc(arena, starts[stored] + ARENA_SPARE, 1);
    for (size_t i = 0; i < stored; i++) {
        const struct slice bytes = column_bytes(from, row_at(excerpt, i));
        if (bytes.len > 0) {
            memcpy(values + starts[i], bytes.ptr, bytes.len);
        }
    }
    memset(values + starts[stored], 0, ARENA_SPARE);
    to->starts = starts;
    to->ends = starts + 1;
    to->values = values;
}

static struct column copy_column(const struct excerpt *excerpt, const struct column *from,
                                 struct arena *arena)
{
    struct column to = *from;
    const size_t stored = from->constant ? 1 : excerpt->count;
    to.name = arena_copy(arena, from->name);
    to.family = arena_copy(arena, from->family);
    copy_validity(excerpt, from, &to, stored, arena);
    if (column_is_number(from)) {
        copy_numbers(excerpt, from, &to, stored, arena);
    } else {
        copy_texts(excerpt, from, &to, stored, arena);
    }
    return to;
}

struct view excerpt_begin(const struct excerpt *excerpt, struct arena *arena)
{
    struct view view = *excerpt->view;
    view.row_count = excerpt->count;
    view.columns = arena_array(arena, struct column, view.column_count);
    return view;
}

void excerpt_column(const struct excerpt *excerpt, struct view *copy, size_t column,
                    struct arena *arena)
{
    copy->columns[column] = copy_column(excerpt, &excerpt->view->columns[column], arena);
}

struct view excerpt_copy(const struct excerpt *excerpt, struct arena *arena)
{
    struct view view = excerpt_begin(excerpt, arena);
    for (size_t i = 0; i < view.column_count; i++) {
        excerpt_column(excerpt, &view, i, arena);
    }
    return view;
}
