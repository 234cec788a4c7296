// SPDX-License-Identifier: Apache-2.0
/*
 * How long a turn of an executor's loop is while a large answer is taken in and given out: the
 * longest step (what is done between two looks at the clock), and the longest share of 4 ms and the
 * step that ends it, as the liaison works, of this thread's own time. Held over charged is what the
 * allocator has given out against what is accounted for, when all rows are in and when all are out.
 *
 *     partials    500,000 groups in one frame
 *     by tag      100,000 rows of 17 MB in no order, merged by a text tag
 *     messages    the same with cells as TagValue messages
 *     version 3   32 MiB of rows with short texts, whose tables are made
 *     one key     1,000,000 rows of one time from each of two nodes, which have to be compared
 *     rows        1,000,000 rows
 */
#include "frame/spent.h"
#include "merge/merge.h"
#include "tests/bench/held.h"
#include "tests/support/frame_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SHARE_NS  4000000
#define STEPS     4096 /* of merge_take, as the liaison gives it */
#define ROWS      512  /* of merge_run, likewise */
#define RUNS      5
#define MAP_BYTES (192 << 10) /* larger blocks are mapped one by one, likewise */

struct workload {
    const char *name;
    size_t rows; /* of a node */
    size_t nodes;
    size_t text; /* bytes of a tag's cell */
    size_t tags;
    unsigned version;
    enum plan_mode mode;
    bool messages;
    bool by_tag;
    bool one_time;
};

static const struct workload workloads[] = {
    {"partials", 500000, 1, 20, 1, 4, PLAN_PARTIALS, false, false, false},
    {"by tag", 100000, 1, 44, 3, 4, PLAN_ROWS, false, true, false},
    {"messages", 100000, 1, 40, 3, 4, PLAN_ROWS, true, true, false},
    {"version 3", 900000, 1, 6, 1, 3, PLAN_ROWS, false, false, false},
    {"one key", 1000000, 2, 8, 1, 4, PLAN_ROWS, false, false, true},
    {"rows", 1000000, 1, 8, 1, 4, PLAN_ROWS, false, false, false},
};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ------------------------------------------------------------------ input */

/* In no order, and different for each row. */
static uint32_t mixed(size_t row)
{
    return (uint32_t)row * 2654435769u;
}

static void put_numbers(struct frame_builder *builder, const struct workload *work, size_t node)
{
    for (int role = COLUMN_TIMESTAMP; role <= COLUMN_SERIES; role++) {
        frame_builder_column(builder, (enum column_role)role, COLUMN_INT64, NULL, "");
        for (size_t row = 0; row < work->rows; row++) {
            size_t time = work->one_time ? 1 : row / 8;
            size_t value = role == COLUMN_TIMESTAMP ? time : role == COLUMN_SERIES ? row : 1 + node;
            frame_builder_int(builder, (int64_t)value);
        }
    }
}

static void put_text(struct frame_builder *builder, const struct workload *work, size_t row)
{
    char cell[80];
    memset(cell, 'x', sizeof cell);
    size_t head = work->messages ? 4 : 0;
    memcpy(cell, (char[]){2 << 3 | 2, (char)(work->text + 2), 1 << 3 | 2, (char)work->text}, head);
    const uint32_t digits = mixed(row);
    for (size_t i = 0; i < work->text && i < 8; i++) {
        cell[head + i] = (char)('a' + (digits >> 4 * i) % 16);
    }
    frame_builder_bytes(builder, slice_of(cell, head + work->text));
}

static struct msg *node_answer(const struct workload *work, size_t node, struct charge *charge)
{
    static const char *const names[] = {"a", "b", "c"};
    struct frame_builder *builder = frame_builder_new(work->rows);
    if (work->mode == PLAN_ROWS) {
        put_numbers(builder, work, node);
    }
    for (size_t tag = 0; tag < work->tags; tag++) {
        frame_builder_column(builder, COLUMN_TAG, work->messages ? COLUMN_TAG_VALUE : COLUMN_STRING,
                             "f", names[tag]);
        for (size_t row = 0; row < work->rows; row++) {
            put_text(builder, work, row * 3 + tag);
        }
    }
    frame_builder_column(builder, COLUMN_FIELD, COLUMN_INT64, NULL, "v");
    for (size_t row = 0; row < work->rows; row++) {
        frame_builder_int(builder, (int64_t)row);
    }
    size_t len;
    uint8_t *bytes = frame_builder_encode(builder, work->version, &len);
    struct msg *msg = msg_copy_of(slice_of(bytes, len), charge);
    free(bytes);
    frame_builder_free(&builder);
    return msg;
}

/* ------------------------------------------------------------------- runs */

struct counter {
    struct sink sink;
    size_t rows;
};

static bool begin(struct sink *sink, const struct layout *layout, struct error *err)
{
    (void)sink;
    (void)layout;
    (void)err;
    return true;
}

static bool row(struct sink *sink, const struct row *row, struct error *err)
{
    (void)row;
    (void)err;
    ((struct counter *)sink)->rows++;
    return true;
}

struct figures {
    uint64_t total;
    uint64_t step;  /* the longest */
    uint64_t share; /* likewise */
    uint64_t began; /* of the share */
};

/* A step that began then has ended. */
static void note(struct figures *figures, uint64_t before)
{
    const uint64_t after = now();
    const uint64_t share = after - figures->began;
    figures->total += after - before;
    figures->step = after - before > figures->step ? after - before : figures->step;
    figures->share = share > figures->share ? share : figures->share;
    figures->began = share >= SHARE_NS ? after : figures->began;
}

static void fail(const char *what, const struct error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->text);
    exit(EXIT_FAILURE);
}

static void take(struct merge *merge, size_t node, struct msg *msg, struct figures *figures)
{
    struct error err;
    enum progress progress = PROGRESS_MORE;
    merge_offer(merge, 0, node, msg, msg_bytes(msg));
    figures->began = now();
    while (progress == PROGRESS_MORE) {
        const uint64_t before = now();
        size_t left = STEPS;
        progress = merge_take(merge, &left, &err);
        note(figures, before);
    }
    if (progress == PROGRESS_FAILED) {
        fail("take", &err);
    }
}

static void give(struct merge *merge, struct counter *counter, struct figures *figures)
{
    struct error err;
    enum merge_state state = MERGE_MORE;
    figures->began = now();
    while (state == MERGE_MORE) {
        const uint64_t before = now();
        state = merge_run(merge, &counter->sink, ROWS, &err);
        note(figures, before);
    }
    if (state == MERGE_FAILED) {
        fail("run", &err);
    }
}

static void on_some(struct spent *spent)
{
    (void)spent;
}

static void give_back(struct spent *spent, struct figures *figures)
{
    bool more = true;
    while (more) {
        const uint64_t before = now();
        more = spent_give_back(spent);
        note(figures, before);
    }
}

static void run(const struct workload *work, struct msg *const *answers, struct figures *in,
                struct figures *out, struct figures *end, struct held *held)
{
    struct spent *spent = held->charge.spent;
    static const struct plan_tag key = {{(const uint8_t *)"f", 1}, {(const uint8_t *)"a", 1}};
    const struct plan plan = {
        .group_count = 1,
        .mode = work->mode,
        .order = work->by_tag ? PLAN_BY_TAG : PLAN_BY_TIME,
        .order_tag = key,
        .keys = &key,
        .key_count = work->mode == PLAN_PARTIALS ? 1 : 0,
        .agg = {.function = PLAN_SUM, .type = PLAN_INT, .field = slice_str("v")},
        .limit = UINT32_MAX,
    };
    struct counter counter = {.sink = {begin, row}};
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, &held->charge);
    struct merge *merge = merge_open(&plan, DECODE_V3 | DECODE_V4, &arena);
    for (size_t node = 0; node < work->nodes; node++) {
        take(merge, node, answers[node], in);
    }
    held_look(held);
    give(merge, &counter, out);
    held_look(held);
    end->began = now();
    merge_close(&merge);
    arena_fini(&arena);
    note(end, end->began);
    give_back(spent, end);
    if (counter.rows != work->rows) {
        fprintf(stderr, "%s: %zu rows came out\n", work->name, counter.rows);
        exit(EXIT_FAILURE);
    }
}

static void keep_best(struct figures *best, const struct figures *figures)
{
    best->total = figures->total < best->total ? figures->total : best->total;
    best->step = figures->step < best->step ? figures->step : best->step;
    best->share = figures->share < best->share ? figures->share : best->share;
}

static void print(const struct workload *work)
{
    struct msg *answers[2];
    size_t bytes = 0;
    struct held held;
    held_begin(&held);
    struct spent spent = {.charge = &held.charge, .on_some = on_some};
    held.charge.spent = &spent;
    struct figures best[3] = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, 0},
                              {UINT64_MAX, UINT64_MAX, UINT64_MAX, 0},
                              {UINT64_MAX, UINT64_MAX, UINT64_MAX, 0}};
    for (size_t node = 0; node < work->nodes; node++) {
        answers[node] = node_answer(work, node, &held.charge);
        bytes += msg_bytes(answers[node]).len;
    }
    for (int i = 0; i < (held_is_all() ? 1 : RUNS); i++) {
        struct figures figures[3] = {{0}, {0}, {0}};
        run(work, answers, &figures[0], &figures[1], &figures[2], &held);
        for (size_t k = 0; k < 3; k++) {
            keep_best(&best[k], &figures[k]);
        }
    }
    for (size_t node = 0; node < work->nodes; node++) {
        msg_release(&answers[node]);
    }
    printf(
        "%-9s %7zu rows %5.1f MB  taken in %6.1f ms, longest step %5.2f ms, turn %5.2f ms  given "
        "out %6.1f ms, step %5.2f ms, turn %5.2f ms  freed %5.2f ms, step %5.2f ms",
        work->name, work->nodes * work->rows, (double)bytes / 1e6, (double)best[0].total / 1e6,
        (double)best[0].step / 1e6, (double)best[0].share / 1e6, (double)best[1].total / 1e6,
        (double)best[1].step / 1e6, (double)best[1].share / 1e6, (double)best[2].total / 1e6,
        (double)best[2].step / 1e6);
    held_tell(&held);
}

int main(int argc, char **argv)
{
    mallopt(M_MMAP_THRESHOLD, MAP_BYTES);
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        if (argc < 2 || strcmp(argv[1], workloads[i].name) == 0) {
            print(&workloads[i]);
        }
    }
    return held_verdict();
}
