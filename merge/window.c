// SPDX-License-Identifier: Apache-2.0
/*
 * Nodes send the rows of a time by series id, so as long as rows come from one node they just
 * ascend, and no two of them are copies. The hash table is begun with the first row that does not:
 * a window of one row, the common case of unique times, never touches it.
 */
#include "merge/window.h"

#define FEW 256

void window_clear(struct window *window)
{
    window->count = 0;
    window->at = 0;
    window->settled = 0;
    if (window->settles) {
        window->settles = false;
        seen_clear(&window->seen);
    }
}

static struct window_row *row_at(const struct window *window, size_t place)
{
    return shelf_at(&window->rows, sizeof(struct window_row), place);
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
    const struct window_row *row_a = row_at(window, a);
    const struct window_row *row_b = row_at(window, b);
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

/* Whether the row, which is at this place, lives. If so, an older copy does no more. */
static bool settle(struct window *window, struct arena *arena, const struct window_row *row,
                   size_t place)
{
    const uint32_t hash = seen_hash(row->source->group, series(row), time_of(row));
    const size_t before = seen_put(&window->seen, arena, hash, place);
    if (before == place) {
        return true;
    }
    struct window_row *rival = row_at(window, before);
    if (version(row) <= version(rival)) {
        return false;
    }
    seen_replace(&window->seen, hash, before, place);
    rival->old = true;
    return true;
}

void window_settle(struct window *window, struct arena *arena, size_t count)
{
    for (; count > 0 && window->settled < window->count; count--) {
        const size_t place = window->settled++;
        settle(window, arena, row_at(window, place), place); /* they ascend: all live */
    }
}

/* From now on copies are looked for, among the rows that are there first: at once if they are few.
 */
static void begin_to_settle(struct window *window, struct arena *arena)
{
    window->settles = true;
    window->seen.same = same_record;
    window->seen.owner = window;
    if (window->count <= FEW) {
        window_settle(window, arena, FEW);
    }
}

/* False: it is not added yet. */
static bool add_row(struct window *window, struct arena *arena, struct source *source, size_t row)
{
    struct window_row *to = shelf_put(&window->rows, sizeof *to, arena, window->count);
    *to = (struct window_row){.source = source, .row = (uint32_t)row};
    if (!window->settles && window->count > 0 && !ascends(row_at(window, window->count - 1), to)) {
        begin_to_settle(window, arena);
    }
    if (!window->settles) {
        window->count++;
        return true;
    }
    if (!window_is_settled(window)) {
        return false;
    }
    if (settle(window, arena, to, window->count)) {
        window->settled = ++window->count;
    }
    return true;
}

size_t window_add(struct window *window, struct arena *arena, struct source *source, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!add_row(window, arena, source, order_row(&source->order, source->next + i))) {
            return i;
        }
    }
    return count;
}
