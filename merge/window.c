// SPDX-License-Identifier: Apache-2.0
/*
 * Nodes send the rows of a time by series id, so as long as rows come from one node they just
 * ascend, and no two of them are copies. The hash table is begun with the first row that does not:
 * a window of one row, the common case of unique times, never touches it.
 */
#include "merge/window.h"

#define FIRST_CAPACITY 64

void window_clear(struct window *window)
{
    window->count = 0;
    window->at = 0;
    if (window->settled) {
        window->settled = false;
        seen_clear(&window->seen);
    }
}

static void reserve(struct window *window, struct arena *arena, size_t count)
{
    if (count <= window->capacity - window->count) {
        return;
    }
    size_t capacity = window->capacity == 0 ? FIRST_CAPACITY : window->capacity;
    while (capacity - window->count < count) {
        capacity *= 2;
    }
    struct window_row *rows = arena_array_raw(arena, struct window_row, capacity);
    if (window->count > 0) {
        memcpy(rows, window->rows, window->count * sizeof *rows);
    }
    window->rows = rows;
    window->capacity = capacity;
}

static uint64_t series(const struct window_row *row)
{
    return column_bits(row->source->series, row->row);
}

static int64_t time_of(const struct window_row *row)
{
    return column_int(row->source->time, row->row);
}

static int64_t version(const struct window_row *row)
{
    return column_int(row->source->version, row->row);
}

static bool same_record(const void *owner, size_t a, size_t b)
{
    const struct window *window = owner;
    const struct window_row *row_a = &window->rows[a];
    const struct window_row *row_b = &window->rows[b];
    return series(row_a) == series(row_b) && time_of(row_a) == time_of(row_b) &&
           row_a->source->group == row_b->source->group;
}

static bool ascends(const struct window_row *before, const struct window_row *row)
{
    uint64_t series_before = series(before);
    uint64_t series_now = series(row);
    return series_before < series_now ||
           (series_before == series_now && time_of(before) < time_of(row));
}

/* Whether the row at this place lives. If so, an older copy does no more. */
static bool settle(struct window *window, struct arena *arena, size_t place)
{
    const struct window_row *row = &window->rows[place];
    uint32_t hash = seen_hash(row->source->group, series(row), time_of(row));
    size_t rival = seen_put(&window->seen, arena, hash, place);
    if (rival == place) {
        return true;
    }
    if (version(row) <= version(&window->rows[rival])) {
        return false;
    }
    seen_replace(&window->seen, hash, rival, place);
    window->rows[rival].source = NULL;
    return true;
}

/* From now on copies are looked for, those among the rows that are there included. */
static void settle_all(struct window *window, struct arena *arena)
{
    window->settled = true;
    window->seen.same = same_record;
    window->seen.owner = window;
    for (size_t place = 0; place < window->count; place++) {
        settle(window, arena, place); /* they ascend: all live */
    }
}

static void add_row(struct window *window, struct arena *arena, struct source *source, size_t row)
{
    struct window_row *to = &window->rows[window->count];
    *to = (struct window_row){.source = source, .row = (uint32_t)row};
    if (!window->settled && window->count > 0 && !ascends(to - 1, to)) {
        settle_all(window, arena);
    }
    if (!window->settled || settle(window, arena, window->count)) {
        window->count++;
    }
}

void window_add(struct window *window, struct arena *arena, struct source *source, size_t count)
{
    reserve(window, arena, count);
    for (size_t i = 0; i < count; i++) {
        add_row(window, arena, source, order_row(&source->order, source->next + i));
    }
}

const struct window_row *window_front(struct window *window)
{
    for (; window->at < window->count; window->at++) {
        if (window->rows[window->at].source != NULL) {
            return &window->rows[window->at];
        }
    }
    return NULL;
}

void window_drop(struct window *window)
{
    window->at++;
}
