// SPDX-License-Identifier: Apache-2.0
/*
 * A million rows in ten thousand groups by two text tags, and the sum of a field, beside a plain
 * loop that finds the same groups with hashes that were made beforehand and adds the same values.
 *
 *     partials   one frame of partial totals, folded as it arrives
 *     floats     the same with a field of floats, whose sums are exact
 *     messages   the same with cells as TagValue and FieldValue messages
 *     constant   the same with one of the keys constant
 *     rows       three nodes' rows, merged by time, each record once, then folded
 *
 * The region's capacity is printed for all rows and for a tenth of them in as many groups: it
 * grows with groups alone (rows hold their frames' messages besides, until they are merged).
 */
#include "merge/merge.h"
#include "tests/bench/held.h"
#include "tests/support/frame_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROWS     1000000
#define SERVICES 100
#define PATHS    100
#define GROUPS   (SERVICES * PATHS)
#define NODES    3
#define STEP     8192 /* rows of one merge_run */
#define RUNS     15

struct workload {
    const char *name;
    enum plan_mode mode;
    enum plan_type type;
    bool messages;
    bool constant;
};

static const struct workload workloads[] = {
    {"partials", PLAN_PARTIALS, PLAN_INT, false, false},
    {"floats", PLAN_PARTIALS, PLAN_FLOAT, false, false},
    {"messages", PLAN_PARTIALS, PLAN_INT, true, false},
    {"constant", PLAN_PARTIALS, PLAN_INT, false, true},
    {"rows", PLAN_FOLD, PLAN_INT, false, false},
};

/* This thread's time: what else the machine does is not counted. */
static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void fail(const char *what, const struct error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->text);
    exit(EXIT_FAILURE);
}

/* ------------------------------------------------------------------ input */

/* Groups come in no order, each about as often. */
static size_t group_of(size_t row)
{
    uint64_t mixed = (row + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return row < GROUPS ? row : (mixed ^ mixed >> 29) % GROUPS;
}

static int64_t value_of(size_t row)
{
    return (int64_t)(row * 7919 % 100000);
}

/* Between 28 and 60 bytes, 44 on average. */
static struct slice key_text(size_t tag, size_t value, char *into)
{
    static const char tail[] = "-abcdefghijklmnopqrstuvwxyz0123456789-abcdefghijklmnopqrst";
    size_t len = 28 + (value * 37 + tag * 11) % 33;
    int head = snprintf(into, 64, "service-%zu-%03zu", tag, value);
    memcpy(into + head, tail, len - (size_t)head);
    return slice_of(into, len);
}

static void put_key(struct frame_builder *builder, const struct workload *work, size_t tag,
                    size_t value)
{
    char cell[80];
    struct slice text = key_text(tag, value, cell + 4);
    if (work->messages) { /* TagValue{str: Str{value}} */
        memcpy(cell, (char[]){2 << 3 | 2, (char)(text.len + 2), 1 << 3 | 2, (char)text.len}, 4);
        text = slice_of(cell, text.len + 4);
    }
    frame_builder_bytes(builder, text);
}

static void put_value(struct frame_builder *builder, const struct workload *work, int64_t value)
{
    if (work->messages) { /* FieldValue{int: Int{value}}, three bytes of varint */
        char low = (char)(value | 0x80);
        char middle = (char)(value >> 7 | 0x80);
        char cell[] = {3 << 3 | 2, 4, 1 << 3, low, middle, (char)(value >> 14 & 0x7F)};
        frame_builder_bytes(builder, slice_of(cell, sizeof cell));
    } else if (work->type == PLAN_INT) {
        frame_builder_int(builder, value);
    } else {
        frame_builder_float(builder, (double)value / 64);
    }
}

static void put_metadata(struct frame_builder *builder, size_t node, size_t rows, size_t step)
{
    for (int role = COLUMN_TIMESTAMP; role <= COLUMN_SERIES; role++) {
        frame_builder_column(builder, (enum column_role)role, COLUMN_INT64, NULL, "");
        for (size_t row = node; row < rows; row += step) {
            size_t value = role == COLUMN_TIMESTAMP ? row / 64 : role == COLUMN_SERIES ? row : 1;
            frame_builder_int(builder, (int64_t)value);
        }
    }
}

static void put_keys(struct frame_builder *builder, const struct workload *work, size_t node,
                     size_t rows, size_t step)
{
    static const char *const names[] = {"service", "path"};
    for (size_t tag = 0; tag < 2; tag++) {
        frame_builder_column(builder, COLUMN_TAG, work->messages ? COLUMN_TAG_VALUE : COLUMN_STRING,
                             "default", names[tag]);
        if (work->constant && tag == 0) {
            frame_builder_constant(builder);
            put_key(builder, work, tag, 0);
            continue;
        }
        for (size_t row = node; row < rows; row += step) {
            size_t group = group_of(row);
            put_key(builder, work, tag, tag == 0 ? group / PATHS : group % PATHS);
        }
    }
}

/* Every step-th row from `node` on. */
static struct msg *node_answer(const struct workload *work, size_t node, size_t rows, size_t step,
                               struct charge *charge)
{
    struct frame_builder *builder = frame_builder_new((rows - node + step - 1) / step);
    if (work->mode == PLAN_FOLD) {
        put_metadata(builder, node, rows, step);
    }
    put_keys(builder, work, node, rows, step);
    frame_builder_column(builder, COLUMN_FIELD,
                         work->messages           ? COLUMN_FIELD_VALUE
                         : work->type == PLAN_INT ? COLUMN_INT64
                                                  : COLUMN_FLOAT64,
                         NULL, "value");
    for (size_t row = node; row < rows; row += step) {
        put_value(builder, work, value_of(row));
    }
    size_t len;
    uint8_t *bytes = frame_builder_encode(builder, 4, &len);
    struct msg *msg = msg_copy_of(slice_of(bytes, len), charge);
    free(bytes);
    frame_builder_free(&builder);
    return msg;
}

/* ------------------------------------------------------------- plain loop */

struct plain_row {
    uint64_t hash;
    struct slice service; /* borrow: the texts */
    struct slice path;
    int64_t value;
};

struct plain_group {
    const struct plain_row *row; /* the first of the group */
    int64_t sum;
};

#define PLAIN_SLOTS 32768

static uint64_t hash_bytes(uint64_t hash, struct slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        hash = (hash ^ bytes.ptr[i]) * UINT64_C(0x100000001B3);
    }
    return hash ^ hash >> 32;
}

static struct plain_row *plain_rows(void)
{
    struct plain_row *rows = malloc(ROWS * sizeof *rows);
    char(*texts)[2][64] = malloc(ROWS * sizeof *texts); /* of its own for each row, as in a frame */
    for (size_t row = 0; row < ROWS; row++) {
        struct plain_row *to = &rows[row];
        to->service = key_text(0, group_of(row) / PATHS, texts[row][0]);
        to->path = key_text(1, group_of(row) % PATHS, texts[row][1]);
        to->value = value_of(row);
        to->hash = hash_bytes(hash_bytes(UINT64_C(0xCBF29CE484222325), to->service), to->path);
    }
    return rows;
}

static uint64_t plain_loop(const struct plain_row *rows)
{
    static struct plain_group table[PLAIN_SLOTS];
    memset(table, 0, sizeof table);
    uint64_t start = now();
    for (size_t i = 0; i < ROWS; i++) {
        const struct plain_row *row = &rows[i];
        size_t at = row->hash % PLAIN_SLOTS;
        while (table[at].row != NULL && !(table[at].row->hash == row->hash &&
                                          slice_equal(table[at].row->service, row->service) &&
                                          slice_equal(table[at].row->path, row->path))) {
            at = (at + 1) % PLAIN_SLOTS;
        }
        if (table[at].row == NULL) {
            table[at].row = row;
        }
        table[at].sum += row->value;
    }
    __asm__ volatile("" : : "r"(table) : "memory");
    return now() - start;
}

/* ------------------------------------------------------------------- runs */

struct counter {
    struct sink sink;
    size_t groups;
    double sum;
};

static bool begin(struct sink *sink, const struct layout *layout, struct error *err)
{
    (void)sink;
    (void)err;
    return layout->tag_count == 2 && layout->field_count == 1;
}

static bool row(struct sink *sink, const struct row *row, struct error *err)
{
    (void)err;
    struct counter *counter = (struct counter *)sink;
    const struct cell *value = &row->cells[2];
    counter->groups++;
    counter->sum += value->kind == CELL_INT ? (double)value->number.i : value->number.f;
    return true;
}

struct figures {
    uint64_t feed;
    uint64_t run;
    uint64_t plain;
    size_t capacity; /* of the region */
};

/* What all runs of a workload share. */
struct bench {
    const struct plain_row *plain; /* own */
    struct arena_cache cache;
    struct counter counter; /* of the last run */
    struct held held;
};

static struct figures fold(const struct workload *work, struct msg *const *answers, size_t nodes,
                           struct bench *bench, bool is_timed)
{
    const struct plan_tag keys[] = {{slice_str("default"), slice_str("service")},
                                    {slice_str("default"), slice_str("path")}};
    const struct plan plan = {
        .group_count = 1,
        .keys = keys,
        .key_count = 2,
        .mode = work->mode,
        .agg = {.function = PLAN_SUM, .type = work->type, .field = slice_str("value")},
        .limit = UINT32_MAX,
    };
    bench->counter = (struct counter){.sink = {begin, row}};
    struct error err;
    struct arena arena;
    uint64_t start = now();
    arena_init(&arena, SIZE_MAX, is_timed ? &bench->cache : NULL,
               is_timed ? NULL : &bench->held.charge);
    struct merge *merge = merge_open(&plan, DECODE_V4, &arena);
    for (size_t node = 0; node < nodes; node++) {
        if (!merge_feed(merge, 0, node, answers[node], msg_bytes(answers[node]), &err)) {
            fail("feed", &err);
        }
    }
    uint64_t fed = now();
    enum merge_state state;
    while ((state = merge_run(merge, &bench->counter.sink, STEP, &err)) == MERGE_MORE) {
    }
    if (state == MERGE_FAILED) {
        fail("run", &err);
    }
    struct figures figures = {.feed = fed - start, .run = now() - fed, .capacity = arena.capacity};
    if (!is_timed) {
        held_look(&bench->held);
    }
    merge_close(&merge);
    arena_fini(&arena);
    return figures;
}

/* The plain loop runs in between, so that both see the same machine. */
static struct figures best_of(const struct workload *work, size_t rows, struct bench *bench)
{
    size_t nodes = work->mode == PLAN_FOLD ? NODES : 1;
    struct msg *answers[NODES];
    held_begin(&bench->held);
    for (size_t node = 0; node < nodes; node++) {
        answers[node] = node_answer(work, node, rows, nodes, &bench->held.charge);
    }
    fold(work, answers, nodes, bench, false);
    struct figures best = {UINT64_MAX, UINT64_MAX, UINT64_MAX, 0};
    for (int run = 0; run < (held_is_all() ? 1 : RUNS); run++) {
        struct figures figures = fold(work, answers, nodes, bench, true);
        best.feed = least(best.feed, figures.feed);
        best.run = least(best.run, figures.run);
        best.plain = least(best.plain, plain_loop(bench->plain));
        best.capacity = figures.capacity;
    }
    for (size_t node = 0; node < nodes; node++) {
        msg_release(&answers[node]);
    }
    return best;
}

static void print(const struct workload *work, struct bench *bench)
{
    size_t tenth = best_of(work, ROWS / 10, bench).capacity;
    struct figures best = best_of(work, ROWS, bench);
    uint64_t both = best.feed + best.run;
    printf("%-8s %5zu groups  feed %6.2f ms  run %6.2f ms  %6.2f Mrows/s  plain %6.2f ms  %4.2f "
           "of it  region %zu KiB (a tenth of the rows: %zu)",
           work->name, bench->counter.groups, (double)best.feed / 1e6, (double)best.run / 1e6,
           ROWS * 1e3 / (double)both, (double)best.plain / 1e6, (double)both / (double)best.plain,
           best.capacity >> 10, tenth >> 10);
    held_tell(&bench->held);
}

int main(int argc, char **argv)
{
    struct bench bench = {.plain = plain_rows(), .cache = {.limit = 256u << 20}};
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        if (argc < 2 || strcmp(argv[1], workloads[i].name) == 0) {
            print(&workloads[i], &bench);
        }
    }
    arena_cache_fini(&bench.cache);
    return held_verdict();
}
