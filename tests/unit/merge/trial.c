// SPDX-License-Identifier: Apache-2.0
/* The model is as plain as can be; the nodes are as odd as can be. */
#include "tests/unit/merge/trial.h"

#include "tests/support/frame_builder.h"
#include "tests/support/frame_random.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ model */

static bool by_tag;
static bool descending;

/* The tag's key as bytes; false: none. */
static bool key_bytes(const struct trial_row *row, uint8_t *bytes, size_t *len_out)
{
    *len_out = 8;
    int64_t number = by_tag ? row->number : row->time;
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(((uint64_t)number + ((uint64_t)1 << 63)) >> (56 - 8 * i));
    }
    if (by_tag && row->kind == TRIAL_TEXT) {
        *len_out = strlen(row->text);
        memcpy(bytes, row->text, *len_out);
    }
    return !by_tag || row->kind != TRIAL_NULL;
}

static int compare_keys(const struct trial_row *a, const struct trial_row *b)
{
    uint8_t bytes_a[16];
    uint8_t bytes_b[16];
    size_t len_a;
    size_t len_b;
    bool has_a = key_bytes(a, bytes_a, &len_a);
    bool has_b = key_bytes(b, bytes_b, &len_b);
    int order = 0;
    if (has_a && has_b) {
        order = memcmp(bytes_a, bytes_b, len_a < len_b ? len_a : len_b);
        order = order != 0 ? order : (len_a > len_b) - (len_a < len_b);
    } else {
        order = has_a - has_b;
    }
    return descending ? -order : order;
}

static int compare_rows(const void *a, const void *b)
{
    const struct trial_row *row_a = a;
    const struct trial_row *row_b = b;
    int order = compare_keys(row_a, row_b);
    if (order == 0) {
        order = (row_a->group > row_b->group) - (row_a->group < row_b->group);
    }
    if (order == 0) {
        order = (row_a->rank > row_b->rank) - (row_a->rank < row_b->rank);
    }
    return order != 0 ? order : (row_a->place > row_b->place) - (row_a->place < row_b->place);
}

static bool is_newer_copy(const struct trial_row *row, const struct trial_row *other)
{
    return row->group == other->group && row->series == other->series && row->time == other->time &&
           (row->version > other->version ||
            (row->version == other->version && compare_rows(row, other) < 0));
}

/* Drops rows of sorted[] that a copy with the same key stands for; the rest moves up. */
static size_t dedupe(struct trial_row *sorted, size_t count)
{
    static bool lives[TRIAL_ROWS];
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && compare_keys(&sorted[begin], &sorted[end]) == 0; end++) {
        }
        for (size_t i = begin; i < end; i++) {
            lives[i] = true;
            for (size_t k = begin; k < end && lives[i]; k++) {
                lives[i] = !is_newer_copy(&sorted[k], &sorted[i]);
            }
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (lives[i]) {
            sorted[kept++] = sorted[i];
        }
    }
    return kept;
}

static size_t first_of_series(struct trial_row *rows, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < kept && !(rows[k].series == rows[i].series && rows[k].group == rows[i].group)) {
            k++;
        }
        if (k == kept) {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

/* The answer; *first_out where it begins. */
size_t trial_answer(const struct trial *trial, struct trial_row *rows, size_t *first_out)
{
    by_tag = trial->plan.order == PLAN_BY_TAG;
    descending = trial->plan.descending;
    memcpy(rows, trial->rows, trial->row_count * sizeof *rows);
    qsort(rows, trial->row_count, sizeof *rows, compare_rows);
    size_t count = dedupe(rows, trial->row_count);
    if (trial->plan.index_mode) {
        count = first_of_series(rows, count);
    }
    *first_out = trial->plan.offset < count ? trial->plan.offset : count;
    size_t rest = count - *first_out;
    return trial->plan.limit < rest ? trial->plan.limit : rest;
}

/* ------------------------------------------------------------------- rows */

static void random_tag(struct trial *trial, const struct trial_node *node, struct trial_row *row)
{
    static const char *const texts[] = {"", "a", "b", "aa", "abcdefgh", "abcdefghi", "abcdefghj"};
    row->kind = (enum trial_kind)random_below(&trial->state, node->messages ? 3 : 2);
    strcpy(row->text, texts[random_below(&trial->state, 7)]);
    row->number = (int64_t)random_below(&trial->state, 4) - 2;
}

static struct trial_row random_row(struct trial *trial, const struct trial_node *node,
                                   size_t spread)
{
    struct trial_row row = {
        .group = node->group,
        .rank = node->rank,
        .time = (int64_t)random_below(&trial->state, spread) - (int64_t)spread / 4,
        .version = (int64_t)random_below(&trial->state, 3) - 1,
        .series = (uint64_t)random_below(&trial->state, 6) << 61,
        .id = (int64_t)trial->row_count,
    };
    random_tag(trial, node, &row);
    return row;
}

/* Half of the nodes send their rows in order, as real ones do; half repeat another node's. */
static void random_rows(struct trial *trial, struct trial_node *node, size_t most)
{
    size_t spread = 1 + random_below(&trial->state, most);
    node->first = trial->row_count;
    node->count = random_below(&trial->state, most + 1);
    for (size_t i = 0; i < node->count; i++) {
        struct trial_row *row = &trial->rows[trial->row_count];
        *row = random_row(trial, node, spread);
        if (node->first > 0 && random_below(&trial->state, 2) == 0) {
            const struct trial_row *copied = &trial->rows[random_below(&trial->state, node->first)];
            row->time = copied->time;
            row->series = copied->series;
            row->version = copied->version;
        }
        trial->row_count++;
    }
    if (random_below(&trial->state, 2) == 0) {
        by_tag = trial->plan.order == PLAN_BY_TAG;
        descending = trial->plan.descending;
        qsort(&trial->rows[node->first], node->count, sizeof *trial->rows, compare_rows);
    }
    for (size_t i = 0; i < node->count; i++) {
        trial->rows[node->first + i].place = i;
    }
}

static const struct slice group_names[] = {{(const uint8_t *)"g0", 2}, {(const uint8_t *)"g1", 2}};
static struct layout_column columns[] = {
    {{(const uint8_t *)"f", 1}, {(const uint8_t *)"t", 1}, false},
    {{(const uint8_t *)"", 0}, {(const uint8_t *)"id", 2}, false},
};
static const struct layout layout = {.tag_count = 1, .field_count = 1, .columns = columns};

void trial_random(struct trial *trial, uint64_t seed, size_t most)
{
    trial->state = seed;
    trial->row_count = 0;
    trial->node_count = random_below(&trial->state, TRIAL_NODES + 1);
    size_t groups = 1 + random_below(&trial->state, 2);
    trial->plan = (struct plan){
        .group_count = groups,
        .groups = group_names,
        .order = random_below(&trial->state, 2) == 0 ? PLAN_BY_TIME : PLAN_BY_TAG,
        .order_tag = {slice_str("f"), slice_str("t")},
        .descending = random_below(&trial->state, 2) == 0,
        .index_mode = random_below(&trial->state, 4) == 0,
        .offset = random_below(&trial->state, 2) == 0 ? 0 : random_below(&trial->state, most),
        .limit = 1 + random_below(&trial->state, 2 * most),
        .layout = groups > 1 ? &layout : NULL,
    };
    for (size_t i = 0; i < trial->node_count; i++) {
        struct trial_node *node = &trial->nodes[i];
        *node = (struct trial_node){
            .group = groups > 1 ? random_below(&trial->state, groups) : 0,
            .rank = i,
            .messages = random_below(&trial->state, 2) == 0,
            .version = 3 + (unsigned)random_below(&trial->state, 2),
        };
        random_rows(trial, node, most);
    }
}

/* ----------------------------------------------------------------- frames */

static size_t put_number(uint8_t *to, unsigned variant, int64_t value)
{
    uint64_t bits = (uint64_t)value;
    size_t len = 3;
    for (; bits >= 0x80; bits >>= 7) {
        to[len++] = (uint8_t)(bits | 0x80);
    }
    to[len++] = (uint8_t)bits;
    to[0] = (uint8_t)(variant << 3 | 2);
    to[1] = (uint8_t)(len - 2);
    to[2] = 1 << 3;
    return len;
}

static void put_tag_message(struct frame_builder *builder, const struct trial_row *row)
{
    uint8_t cell[32];
    size_t len = strlen(row->text);
    if (row->kind == TRIAL_NUMBER) {
        frame_builder_bytes(builder, slice_of(cell, put_number(cell, 4, row->number)));
    } else if (row->kind == TRIAL_TEXT) {
        const uint8_t head[] = {2 << 3 | 2, (uint8_t)(len + 2), 1 << 3 | 2, (uint8_t)len};
        memcpy(cell, head, sizeof head);
        memcpy(cell + sizeof head, row->text, len);
        frame_builder_bytes(builder, slice_of(cell, sizeof head + len));
    } else if (row->id % 3 == 0) {
        frame_builder_null(builder);
    } else {
        frame_builder_bytes(builder, slice_of("\x08\x00", row->id % 3 == 1 ? 2 : 0));
    }
}

static void put_metadata(struct frame_builder *builder, const struct trial_row *rows, size_t count,
                         enum column_role role)
{
    frame_builder_column(builder, role, COLUMN_INT64, NULL, "");
    bool constant = role == COLUMN_VERSION && count > 0;
    for (size_t i = 0; i < count; i++) {
        constant = constant && rows[i].version == rows[0].version;
    }
    if (constant) {
        frame_builder_constant(builder);
    }
    for (size_t i = 0; i < (constant ? 1 : count); i++) {
        int64_t value = role == COLUMN_TIMESTAMP ? rows[i].time
                        : role == COLUMN_SERIES  ? (int64_t)rows[i].series
                                                 : rows[i].version;
        frame_builder_int(builder, value);
    }
}

struct msg *trial_frame(const struct trial *trial, const struct trial_node *node)
{
    const struct trial_row *rows = &trial->rows[node->first];
    struct frame_builder *builder = frame_builder_new(node->count);
    put_metadata(builder, rows, node->count, node->messages ? COLUMN_SERIES : COLUMN_TIMESTAMP);
    put_metadata(builder, rows, node->count, COLUMN_VERSION);
    put_metadata(builder, rows, node->count, node->messages ? COLUMN_TIMESTAMP : COLUMN_SERIES);
    frame_builder_column(builder, COLUMN_TAG, node->messages ? COLUMN_TAG_VALUE : COLUMN_STRING,
                         "f", "t");
    for (size_t i = 0; i < node->count; i++) {
        if (node->messages) {
            put_tag_message(builder, &rows[i]);
        } else if (rows[i].kind == TRIAL_TEXT) {
            frame_builder_text(builder, rows[i].text);
        } else {
            frame_builder_null(builder);
        }
    }
    frame_builder_column(builder, COLUMN_FIELD, node->messages ? COLUMN_FIELD_VALUE : COLUMN_INT64,
                         NULL, "id");
    for (size_t i = 0; i < node->count; i++) {
        uint8_t cell[32];
        if (node->messages) {
            frame_builder_bytes(builder, slice_of(cell, put_number(cell, 3, rows[i].id)));
        } else {
            frame_builder_int(builder, rows[i].id);
        }
    }
    size_t len;
    uint8_t *bytes = frame_builder_encode(builder, node->version, &len);
    struct msg *msg = msg_copy_of(slice_of(bytes, len), NULL);
    free(bytes);
    frame_builder_free(&builder);
    return msg;
}
