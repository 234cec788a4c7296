// SPDX-License-Identifier: Apache-2.0
/*
 * Random rows on random nodes, merged, against a model that has all rows in one list: it sorts them
 * by key, node and place, lets the newest of equal records live, and cuts. Each row carries a
 * number of its own, so that it shows which copy came out. The order of arrival and the size of the
 * steps are random too, so they cannot matter.
 */
#include "frame/decode.h"
#include "merge/merge.h"
#include "tests/support/frame_builder.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"

#define MAX_NODES 6
#define MAX_ROWS  12000

enum kind { NOTHING, TEXT, NUMBER };

struct model_row {
    size_t group;
    size_t rank;
    size_t place; /* in the frame */
    int64_t time;
    int64_t version;
    uint64_t series;
    enum kind kind; /* of the order tag */
    char text[12];
    int64_t number;
    int64_t id;
};

struct node {
    size_t group;
    size_t rank;
    size_t first; /* its rows in the trial's list */
    size_t count;
    bool messages; /* tags and fields are TagValue and FieldValue */
    unsigned version;
};

struct trial {
    struct plan plan;
    uint64_t state;
    struct node nodes[MAX_NODES];
    size_t node_count;
    struct model_row rows[MAX_ROWS];
    size_t row_count;
};

/* ------------------------------------------------------------------ model */

static bool by_tag;
static bool descending;

/* The tag's key as bytes; false: none. */
static bool key_bytes(const struct model_row *row, uint8_t *bytes, size_t *len_out)
{
    *len_out = 8;
    int64_t number = by_tag ? row->number : row->time;
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(((uint64_t)number + ((uint64_t)1 << 63)) >> (56 - 8 * i));
    }
    if (by_tag && row->kind == TEXT) {
        *len_out = strlen(row->text);
        memcpy(bytes, row->text, *len_out);
    }
    return !by_tag || row->kind != NOTHING;
}

static int compare_keys(const struct model_row *a, const struct model_row *b)
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
    const struct model_row *row_a = a;
    const struct model_row *row_b = b;
    int order = compare_keys(row_a, row_b);
    if (order == 0) {
        order = (row_a->group > row_b->group) - (row_a->group < row_b->group);
    }
    if (order == 0) {
        order = (row_a->rank > row_b->rank) - (row_a->rank < row_b->rank);
    }
    return order != 0 ? order : (row_a->place > row_b->place) - (row_a->place < row_b->place);
}

static bool is_newer_copy(const struct model_row *row, const struct model_row *other)
{
    return row->group == other->group && row->series == other->series && row->time == other->time &&
           (row->version > other->version ||
            (row->version == other->version && compare_rows(row, other) < 0));
}

/* Drops rows of sorted[] that a copy with the same key stands for; the rest moves up. */
static size_t dedupe(struct model_row *sorted, size_t count)
{
    static bool lives[MAX_ROWS];
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

static size_t first_of_series(struct model_row *rows, size_t count)
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
static size_t expected(const struct trial *trial, struct model_row *rows, size_t *first_out)
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

static void random_tag(struct trial *trial, const struct node *node, struct model_row *row)
{
    static const char *const texts[] = {"", "a", "b", "aa", "abcdefgh", "abcdefghi", "abcdefghj"};
    row->kind = (enum kind)random_below(&trial->state, node->messages ? 3 : 2);
    strcpy(row->text, texts[random_below(&trial->state, 7)]);
    row->number = (int64_t)random_below(&trial->state, 4) - 2;
}

static struct model_row random_row(struct trial *trial, const struct node *node, size_t spread)
{
    struct model_row row = {
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
static void random_rows(struct trial *trial, struct node *node, size_t most)
{
    size_t spread = 1 + random_below(&trial->state, most);
    node->first = trial->row_count;
    node->count = random_below(&trial->state, most + 1);
    for (size_t i = 0; i < node->count; i++) {
        struct model_row *row = &trial->rows[trial->row_count];
        *row = random_row(trial, node, spread);
        if (node->first > 0 && random_below(&trial->state, 2) == 0) {
            const struct model_row *copied = &trial->rows[random_below(&trial->state, node->first)];
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
static struct layout_column columns[2];
static const struct layout layout = {.tag_count = 1, .field_count = 1, .columns = columns};

static void random_trial(struct trial *trial, uint64_t seed, size_t most)
{
    trial->state = seed;
    trial->row_count = 0;
    trial->node_count = random_below(&trial->state, MAX_NODES + 1);
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
        struct node *node = &trial->nodes[i];
        *node = (struct node){
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

static void put_tag_message(struct frame_builder *builder, const struct model_row *row)
{
    uint8_t cell[32];
    size_t len = strlen(row->text);
    if (row->kind == NUMBER) {
        frame_builder_bytes(builder, slice_of(cell, put_number(cell, 4, row->number)));
    } else if (row->kind == TEXT) {
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

static void put_metadata(struct frame_builder *builder, const struct model_row *rows, size_t count,
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

static struct msg *frame_of(const struct trial *trial, const struct node *node)
{
    const struct model_row *rows = &trial->rows[node->first];
    struct frame_builder *builder = frame_builder_new(node->count);
    put_metadata(builder, rows, node->count, node->messages ? COLUMN_SERIES : COLUMN_TIMESTAMP);
    put_metadata(builder, rows, node->count, COLUMN_VERSION);
    put_metadata(builder, rows, node->count, node->messages ? COLUMN_TIMESTAMP : COLUMN_SERIES);
    frame_builder_column(builder, COLUMN_TAG, node->messages ? COLUMN_TAG_VALUE : COLUMN_STRING,
                         "f", "t");
    for (size_t i = 0; i < node->count; i++) {
        if (node->messages) {
            put_tag_message(builder, &rows[i]);
        } else if (rows[i].kind == TEXT) {
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

/* ------------------------------------------------------------------ check */

struct checker {
    struct sink sink;
    const struct model_row *rows;
    size_t count;
    size_t at;
    uint64_t seed;
};

static bool checker_begin(struct sink *sink, const struct layout *given, struct error *err)
{
    (void)sink;
    (void)given;
    (void)err;
    return true;
}

static bool checker_row(struct sink *sink, const struct row *row, struct error *err)
{
    (void)err;
    struct checker *checker = (struct checker *)sink;
    ck_assert_msg(checker->at < checker->count, "seed %zu: a row too many", (size_t)checker->seed);
    const struct model_row *wanted = &checker->rows[checker->at++];
    const struct cell *tag = &row->cells[0];
    ck_assert_msg(row->cells[1].kind == CELL_INT && row->cells[1].number.i == wanted->id,
                  "seed %zu: row %zu is not number %zu", (size_t)checker->seed, checker->at - 1,
                  (size_t)wanted->id);
    ck_assert(row->group == wanted->group && row->timestamp == wanted->time &&
              row->version == wanted->version && row->series == wanted->series);
    ck_assert(tag->kind == (wanted->kind == NOTHING ? CELL_NULL
                            : wanted->kind == TEXT  ? CELL_STRING
                                                    : CELL_INT));
    ck_assert(tag->kind != CELL_STRING || slice_equal(tag->bytes, slice_str(wanted->text)));
    ck_assert(tag->kind != CELL_INT || tag->number.i == wanted->number);
    return true;
}

static void merge_and_check(struct trial *trial, struct checker *checker)
{
    struct arena arena;
    struct error err = {0};
    size_t turns[MAX_NODES];
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct merge *merge = merge_open(&trial->plan, DECODE_V3 | DECODE_V4, &arena);
    for (size_t i = 0; i < trial->node_count; i++) {
        size_t k = random_below(&trial->state, i + 1);
        turns[i] = turns[k];
        turns[k] = i;
    }
    for (size_t i = 0; i < trial->node_count; i++) {
        const struct node *node = &trial->nodes[turns[i]];
        struct msg *msg = frame_of(trial, node);
        ck_assert_msg(merge_feed(merge, node->group, node->rank, msg, msg_bytes(msg), &err), "%s",
                      err.text);
        msg_release(&msg);
    }
    size_t step = 1 + random_below(&trial->state, 50);
    enum merge_state state;
    do {
        state = merge_run(merge, &checker->sink, step, &err);
    } while (state == MERGE_MORE);
    ck_assert_msg(state == MERGE_DONE, "%s", err.text);
    ck_assert_uint_eq(checker->at, checker->count);
    merge_close(&merge);
    arena_fini(&arena);
}

static void try_seed(uint64_t seed, size_t most)
{
    static struct trial trial;
    static struct model_row rows[MAX_ROWS];
    size_t first;
    random_trial(&trial, seed, most);
    size_t count = expected(&trial, rows, &first);
    for (int round = 0; round < 2; round++) { /* another order of arrival, another step */
        struct checker checker = {
            {checker_begin, checker_row}, rows + first, count, 0, seed,
        };
        merge_and_check(&trial, &checker);
    }
}

START_TEST(small_merges_are_sort_and_dedupe)
{
    columns[0] = (struct layout_column){slice_str("f"), slice_str("t"), false};
    columns[1] = (struct layout_column){slice_str(""), slice_str("id"), false};
    for (uint64_t seed = 1; seed <= 6000; seed++) {
        try_seed(seed * 0x9e3779b97f4a7c15u, 1 + seed % 40);
    }
}
END_TEST

START_TEST(large_merges_are_sort_and_dedupe)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        try_seed(seed * 0xc2b2ae3d27d4eb4fu, 2000);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge_property");
    TCase *tcase = tcase_create("merge_property");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, small_merges_are_sort_and_dedupe);
    tcase_add_test(tcase, large_merges_are_sort_and_dedupe);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
