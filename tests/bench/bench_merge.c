// SPDX-License-Identifier: Apache-2.0
/*
 * Three nodes' frames decoded and merged into a sink that only sums, beside one memcpy of the
 * frames' bytes, which is the least that anybody pays for them. The workloads are those of the
 * reference implementation's own figures; "copies" has every row on all nodes, "window" has one
 * sort key in 300,000 rows.
 */
#include "merge/merge.h"
#include "tests/bench/held.h"
#include "tests/support/frame_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NODES       3
#define SERIES      128
#define SERIES_STEP 0x0012345678abcdef /* ids spread as hashes do, the nodes' among each other */
#define STEP        8192               /* rows of one merge_run */
#define DISTINCT    128
#define MIN_RUNS    7
#define MIN_TIME    400000000 /* ns for one workload */

struct workload {
    const char *name;
    size_t rows; /* of each node */
    size_t tags;
    bool shared_times; /* the nodes' rows have the same timestamps */
    bool messages;     /* cells are TagValue and FieldValue */
    bool copies;       /* the nodes hold the same rows */
    bool one_key;      /* ordered by a tag that has one value */
    uint64_t limit;
};

static const struct workload workloads[] = {
    {"w1", 20, 2, true, false, false, false, 100},
    {"w3", 8192, 3, true, false, false, false, 1000000},
    {"w3u", 8192, 3, false, false, false, false, 1000000},
    {"w3p", 8192, 3, true, true, false, false, 1000000},
    {"w5cut", 246, 3, true, false, false, false, 246},
    {"w9", 100000, 3, true, false, false, false, 1000000},
    {"copies", 8192, 3, true, false, true, false, 1000000},
    {"window", 100000, 3, true, false, false, true, 1000000},
};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ------------------------------------------------------------------ input */

static void put_numbers(struct frame_builder *builder, const struct workload *work,
                        enum column_role role, size_t node)
{
    frame_builder_column(builder, role, COLUMN_INT64, NULL, "");
    for (size_t row = 0; row < work->rows; row++) {
        size_t series = (row % SERIES * NODES + (work->copies ? 0 : node)) * SERIES_STEP;
        size_t time = work->shared_times ? row / SERIES : NODES * row + node;
        size_t value = role == COLUMN_TIMESTAMP ? time : role == COLUMN_SERIES ? series : 1;
        frame_builder_int(builder, (int64_t)value);
    }
}

/* Between 28 and 60 bytes, 44 on average. */
static struct slice tag_text(size_t tag, size_t value, char *into)
{
    static const char tail[] = "-abcdefghijklmnopqrstuvwxyz0123456789-abcdefghijklmnopqrst";
    size_t len = 28 + (value * 37 + tag * 11) % 33;
    int head = snprintf(into, 64, "service-%zu-%03zu", tag, value);
    memcpy(into + head, tail, len - (size_t)head);
    return slice_of(into, len);
}

static void put_tag(struct frame_builder *builder, const struct workload *work, size_t tag)
{
    static const char *const names[] = {"service", "instance", "endpoint"};
    frame_builder_column(builder, COLUMN_TAG, work->messages ? COLUMN_TAG_VALUE : COLUMN_STRING,
                         "default", names[tag]);
    for (size_t row = 0; row < work->rows; row++) {
        char cell[80];
        size_t value = work->one_key && tag == 0 ? 0 : (row * (2 * tag + 1)) % DISTINCT;
        struct slice text = tag_text(tag, value, cell + 4);
        if (work->messages) { /* TagValue{str: Str{value}} */
            memcpy(cell, (char[]){2 << 3 | 2, (char)(text.len + 2), 1 << 3 | 2, (char)text.len}, 4);
            text = slice_of(cell, text.len + 4);
        }
        frame_builder_bytes(builder, text);
    }
}

static void put_field(struct frame_builder *builder, const struct workload *work)
{
    frame_builder_column(builder, COLUMN_FIELD, work->messages ? COLUMN_FIELD_VALUE : COLUMN_INT64,
                         NULL, "value");
    for (size_t row = 0; row < work->rows; row++) {
        size_t value = row * 7919 % 100000;
        if (work->messages) { /* FieldValue{int: Int{value}}, three bytes of varint */
            char low = (char)(value | 0x80);
            char middle = (char)(value >> 7 | 0x80);
            char cell[] = {3 << 3 | 2, 4, 1 << 3, low, middle, (char)(value >> 14 & 0x7F)};
            frame_builder_bytes(builder, slice_of(cell, sizeof cell));
        } else {
            frame_builder_int(builder, (int64_t)value);
        }
    }
}

static struct msg *node_answer(const struct workload *work, size_t node, unsigned version,
                               struct charge *charge)
{
    static const enum column_role roles[] = {COLUMN_TIMESTAMP, COLUMN_VERSION, COLUMN_SERIES,
                                             COLUMN_SHARD};
    struct frame_builder *builder = frame_builder_new(work->rows);
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        put_numbers(builder, work, roles[i], node);
    }
    for (size_t tag = 0; tag < work->tags; tag++) {
        put_tag(builder, work, tag);
    }
    put_field(builder, work);
    size_t len;
    uint8_t *bytes = frame_builder_encode(builder, version, &len);
    struct msg *msg = msg_copy_of(slice_of(bytes, len), charge);
    free(bytes);
    frame_builder_free(&builder);
    return msg;
}

/* ------------------------------------------------------------------- runs */

struct adder {
    struct sink sink;
    size_t columns;
    uint64_t rows;
    uint64_t sum;
};

static bool adder_begin(struct sink *sink, const struct layout *layout, struct error *err)
{
    (void)err;
    struct adder *adder = (struct adder *)sink;
    adder->columns = layout->tag_count + layout->field_count;
    return true;
}

static bool adder_row(struct sink *sink, const struct row *row, struct error *err)
{
    (void)err;
    struct adder *adder = (struct adder *)sink;
    adder->rows++;
    adder->sum += (uint64_t)row->timestamp + row->series;
    for (size_t i = 0; i < adder->columns; i++) {
        const struct cell *cell = &row->cells[i];
        adder->sum += cell->kind == CELL_INT ? (uint64_t)cell->number.i : cell->bytes.len;
    }
    return true;
}

static void fail(const char *what, const struct error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->text);
    exit(EXIT_FAILURE);
}

struct times {
    uint64_t feed; /* decoding, and a look at the order */
    uint64_t run;
};

static struct times merge_once(const struct workload *work, struct msg *const *answers,
                               struct arena_cache *cache, struct held *held, struct adder *adder)
{
    const struct plan plan = {
        .group_count = 1,
        .order = work->one_key ? PLAN_BY_TAG : PLAN_BY_TIME,
        .order_tag = {slice_str("default"), slice_str("service")},
        .limit = work->limit,
    };
    *adder = (struct adder){.sink = {adder_begin, adder_row}};
    struct error err;
    struct arena arena;
    uint64_t start = now();
    arena_init(&arena, SIZE_MAX, cache, held == NULL ? NULL : &held->charge);
    struct merge *merge = merge_open(&plan, DECODE_V3 | DECODE_V4, &arena);
    for (size_t node = 0; node < NODES; node++) {
        if (!merge_feed(merge, 0, node, answers[node], msg_bytes(answers[node]), &err)) {
            fail("feed", &err);
        }
    }
    uint64_t fed = now();
    enum merge_state state;
    while ((state = merge_run(merge, &adder->sink, STEP, &err)) == MERGE_MORE) {
    }
    if (state == MERGE_FAILED) {
        fail("run", &err);
    }
    if (held != NULL) {
        held_look(held);
    }
    merge_close(&merge);
    arena_fini(&arena);
    return (struct times){.feed = fed - start, .run = now() - fed};
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The best time of copying all answers into memory that is there already. */
static uint64_t copy_time(struct msg *const *answers, size_t total)
{
    uint8_t *to = malloc(total);
    uint64_t best = UINT64_MAX;
    for (int run = 0; run < 4 * MIN_RUNS; run++) {
        uint64_t start = now();
        size_t at = 0;
        for (size_t node = 0; node < NODES; node++) {
            struct slice bytes = msg_bytes(answers[node]);
            memcpy(to + at, bytes.ptr, bytes.len);
            at += bytes.len;
        }
        __asm__ volatile("" : : "r"(to) : "memory");
        best = least(best, now() - start);
    }
    free(to);
    return best;
}

static bool is_enough(int runs, uint64_t start)
{
    return held_is_all() ? runs > 0 : runs >= MIN_RUNS && now() - start >= MIN_TIME;
}

static void bench(const struct workload *work, unsigned version, struct arena_cache *cache)
{
    struct msg *answers[NODES];
    size_t total = 0;
    struct held held;
    held_begin(&held);
    for (size_t node = 0; node < NODES; node++) {
        answers[node] = node_answer(work, node, version, &held.charge);
        total += msg_bytes(answers[node]).len;
    }
    struct adder adder;
    merge_once(work, answers, NULL, &held, &adder);
    struct times best = {UINT64_MAX, UINT64_MAX};
    uint64_t start = now();
    for (int run = 0; !is_enough(run, start); run++) {
        struct times times = merge_once(work, answers, cache, NULL, &adder);
        best.feed = least(best.feed, times.feed);
        best.run = least(best.run, times.run);
    }
    uint64_t copy = copy_time(answers, total);
    uint64_t both = best.feed + best.run;
    printf("%-6s v%u %6zu rows out %6.2f MB in  decode %8.1f us  merge %8.1f us  %6.1f ns/row "
           "%6.2f Mrows/s  %5.2f of one memcpy",
           work->name, version, (size_t)adder.rows, (double)total / 1e6, (double)best.feed / 1e3,
           (double)best.run / 1e3, (double)both / (double)adder.rows,
           (double)adder.rows * 1e3 / (double)both, (double)both / (double)copy);
    held_tell(&held);
    for (size_t node = 0; node < NODES; node++) {
        msg_release(&answers[node]);
    }
}

int main(int argc, char **argv)
{
    struct arena_cache cache = {.limit = 256u << 20};
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        for (unsigned version = 3; version <= 4; version++) {
            if (argc < 2 || strcmp(argv[1], workloads[i].name) == 0) {
                bench(&workloads[i], version, &cache);
            }
        }
    }
    arena_cache_fini(&cache);
    return held_verdict();
}
