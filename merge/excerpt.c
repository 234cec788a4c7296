// SPDX-License-Identifier: Apache-2.0
/*
 * Copies of one record have one key, so they meet in one window, and a record counts once however
 * many copies there are. Of a key's rows only those are counted that ascend by series and time:
 * these are surely different. Rows that do not ascend are taken along and counted for nothing.
 */
#include "merge/excerpt.h"

#define MESSAGE_MIN  ((size_t)64 << 10)
#define BYTES_A_STEP 64

static size_t row_at(const struct excerpt *excerpt, size_t place)
{
    return order_row(excerpt->order, excerpt->first + place);
}

bool excerpt_pays(const struct excerpt *excerpt, size_t part, size_t message_bytes)
{
    return message_bytes >= MESSAGE_MIN && excerpt->count <= excerpt->view->row_count / part;
}

struct excerpt_count excerpt_count(const struct view *view, const struct order *order,
                                   uint64_t wanted, size_t most)
{
    return (struct excerpt_count){
        .order = order,
        .wanted = wanted,
        .most = most,
        .series = view_role(view, COLUMN_SERIES),
        .time = view_role(view, COLUMN_TIMESTAMP),
    };
}

static void count_row(struct excerpt_count *count, size_t row, bool first)
{
    const uint64_t series = column_bits(count->series, row);
    const int64_t time = column_int(count->time, row);
    if (first || series > count->last_series ||
        (series == count->last_series && time > count->last_time)) {
        count->records++;
        count->last_series = series;
        count->last_time = time;
    }
}

bool excerpt_count_some(struct excerpt_count *count, size_t *left)
{
    for (; count->place < count->order->count && count->place <= count->most; count->place++) {
        const size_t row = order_row(count->order, count->place);
        if (*left == 0) {
            return false;
        }
        progress_spend(left, 1);
        order_key(count->order, row, &count->keys[count->place % 2]);
        const bool first = count->place == 0 || key_compare(&count->keys[0], &count->keys[1]) != 0;
        if (first && count->records >= count->wanted) {
            break;
        }
        count_row(count, row, first);
    }
    return true;
}

static const struct column *from_of(const struct excerpt_copy *copy)
{
    return &copy->excerpt.view->columns[copy->column];
}

static struct column *to_of(const struct excerpt_copy *copy)
{
    return &copy->view.columns[copy->column];
}

/* Values of the column: one of a constant. */
static size_t stored(const struct excerpt_copy *copy)
{
    return from_of(copy)->constant ? 1 : copy->excerpt.count;
}

static void go_to(struct excerpt_copy *copy, enum excerpt_part part)
{
    copy->part = part;
    copy->done = 0;
}

static void end_column(struct excerpt_copy *copy)
{
    copy->column++;
    go_to(copy, EXCERPT_HEAD);
}

static void begin_values(struct excerpt_copy *copy, struct arena *arena)
{
    if (column_is_number(from_of(copy))) {
        copy->numbers = arena_array_raw(arena, uint64_t, stored(copy));
        go_to(copy, EXCERPT_NUMBERS);
    } else {
        copy->starts = arena_array_raw(arena, uint32_t, stored(copy) + 1);
        copy->starts[0] = 0;
        go_to(copy, EXCERPT_STARTS);
    }
}

static void begin_column(struct excerpt_copy *copy, struct arena *arena)
{
    const struct column *from = from_of(copy);
    struct column *to = to_of(copy);
    *to = *from;
    to->name = arena_copy(arena, from->name);
    to->family = arena_copy(arena, from->family);
    to->null_count = 0;
    to->validity = NULL;
    if (from->validity == NULL) {
        begin_values(copy, arena);
        return;
    }
    copy->bits = arena_zalloc(arena, (stored(copy) + 7) / 8, 1);
    go_to(copy, EXCERPT_BITS);
}

/* Where a share of the column's values ends. */
static size_t share_end(const struct excerpt_copy *copy, size_t *left)
{
    return copy->done + progress_share(stored(copy) - copy->done, 1, left);
}

static void copy_bits(struct excerpt_copy *copy, struct arena *arena, size_t *left)
{
    struct column *to = to_of(copy);
    for (const size_t end = share_end(copy, left); copy->done < end; copy->done++) {
        const size_t i = copy->done;
        if (column_is_null(from_of(copy), row_at(&copy->excerpt, i))) {
            to->null_count++;
        } else {
            copy->bits[i >> 3] |= (uint8_t)(1u << (i & 7));
        }
    }
    if (copy->done == stored(copy)) {
        to->validity = copy->bits;
        begin_values(copy, arena);
    }
}

static void copy_numbers(struct excerpt_copy *copy, size_t *left)
{
    for (const size_t end = share_end(copy, left); copy->done < end; copy->done++) {
        copy->numbers[copy->done] = column_bits(from_of(copy), row_at(&copy->excerpt, copy->done));
    }
    if (copy->done == stored(copy)) {
        to_of(copy)->values = (const uint8_t *)copy->numbers;
        end_column(copy);
    }
}

static void copy_starts(struct excerpt_copy *copy, struct arena *arena, size_t *left)
{
    uint32_t *starts = copy->starts;
    for (const size_t end = share_end(copy, left); copy->done < end; copy->done++) {
        const struct slice text = column_bytes(from_of(copy), row_at(&copy->excerpt, copy->done));
        starts[copy->done + 1] = starts[copy->done] + (uint32_t)text.len;
    }
    if (copy->done == stored(copy)) {
        copy->texts = arena_alloc(arena, starts[copy->done] + ARENA_SPARE, 1);
        memset(copy->texts + starts[copy->done], 0, ARENA_SPARE);
        go_to(copy, EXCERPT_TEXTS);
    }
}

static void copy_texts(struct excerpt_copy *copy, size_t *left)
{
    for (; copy->done < stored(copy) && *left > 0; copy->done++) {
        const struct slice text = column_bytes(from_of(copy), row_at(&copy->excerpt, copy->done));
        if (text.len > 0) {
            memcpy(copy->texts + copy->starts[copy->done], text.ptr, text.len);
        }
        progress_spend(left, 1 + text.len / BYTES_A_STEP);
    }
    if (copy->done == stored(copy)) {
        struct column *to = to_of(copy);
        to->starts = copy->starts;
        to->ends = copy->starts + 1;
        to->values = copy->texts;
        end_column(copy);
    }
}

static void step(struct excerpt_copy *copy, struct arena *arena, size_t *left)
{
    switch (copy->part) {
    case EXCERPT_HEAD:
        progress_spend(left, 1);
        begin_column(copy, arena);
        break;
    case EXCERPT_BITS:
        copy_bits(copy, arena, left);
        break;
    case EXCERPT_NUMBERS:
        copy_numbers(copy, left);
        break;
    case EXCERPT_STARTS:
        copy_starts(copy, arena, left);
        break;
    case EXCERPT_TEXTS:
        copy_texts(copy, left);
        break;
    }
}

void excerpt_begin(struct excerpt_copy *copy, const struct excerpt *excerpt, struct arena *arena)
{
    *copy = (struct excerpt_copy){.excerpt = *excerpt, .view = *excerpt->view};
    copy->view.row_count = excerpt->count;
    copy->view.columns = arena_array(arena, struct column, copy->view.column_count);
}

bool excerpt_some(struct excerpt_copy *copy, struct arena *arena, size_t *left)
{
    while (copy->column<copy->view.column_count && * left> 0) {
        step(copy, arena, left);
    }
    return copy->column == copy->view.column_count;
}
