// SPDX-License-Identifier: Apache-2.0
/* A window of one row, the common case of unique times, never touches the hash table. */
#include "merge/window.h"

void window_clear(struct window *window)
{
    window->count = 0;
    window->at = 0;
    seen_clear(&window->seen);
}

static void reserve(struct window *window, struct arena *arena)
{
    if (window->count < window->capacity) {
        return;
    }
    size_t capacity = window->capacity == 0 ? 64 : 2 * window->capacity;
    struct window_row *rows =
        arena_alloc(arena, capacity * sizeof *rows, _Alignof(struct window_row));
    if (window->count > 0) {
        memcpy(rows, window->rows, window->count * sizeof *rows);
    }
    window->rows = rows;
    window->capacity = capacity;
}

static int64_t version(const struct window_row *row)
{
    return column_int(row->source->version, row->row);
}

/* Of this row and the copy that was there before, one lives on. */
static void settle(struct window *window, struct arena *arena, size_t place)
{
    struct window_row *row = &window->rows[place];
    size_t *living = seen_put(&window->seen, arena, (uint32_t)row->source->group,
                              column_bits(row->source->series, row->row),
                              column_int(row->source->time, row->row), place);
    struct window_row *rival = &window->rows[*living];
    if (rival == row) {
        return;
    }
    if (version(row) > version(rival)) {
        *living = place;
        rival->source = NULL;
    } else {
        row->source = NULL;
    }
}

void window_add(struct window *window, struct arena *arena, struct source *source, size_t row)
{
    reserve(window, arena);
    size_t place = window->count++;
    window->rows[place] = (struct window_row){.source = source, .row = row};
    if (place == 1) {
        settle(window, arena, 0);
    }
    if (place > 0) {
        settle(window, arena, place);
    }
}

const struct window_row *window_next(struct window *window)
{
    while (window->at < window->count) {
        const struct window_row *row = &window->rows[window->at++];
        if (row->source != NULL) {
            return row;
        }
    }
    return NULL;
}
