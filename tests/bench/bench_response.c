// SPDX-License-Identifier: Apache-2.0
/*
 * What writing an answer costs, as a multiple of one memcpy of its bytes in the same run, and how
 * building a tree of messages and packing it compares: 24,576 rows of three string tags (44 bytes
 * on average) and one int64 field; the same with two of the tags null; and narrow rows of numbers.
 * Blocks are taken from memory that is kept, as a long-running process has it. Best of the runs;
 * the medians beside it.
 */
#include "proto/alloc.h"
#include "proto/response.h"
#include "tests/bench/held.h"
#include "tests/support/frame_random.h"

#include <assert.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 24576, RUNS = 60, DISTINCT = 128, STRING_MEAN = 44, CELLS = 4, HOT = 64 };

struct shape {
    const char *name;
    size_t tags;
    size_t fields;
    enum cell_kind kinds[CELLS];
};

static const struct shape shapes[] = {
    {"3 strings, 1 int", 3, 1, {CELL_STRING, CELL_STRING, CELL_STRING, CELL_INT}},
    {"1 string, 2 nulls, 1 int", 3, 1, {CELL_STRING, CELL_NULL, CELL_NULL, CELL_INT}},
    {"2 ints, 1 int, 1 float", 2, 2, {CELL_INT, CELL_INT, CELL_INT, CELL_FLOAT}},
};

static const struct layout_column columns[CELLS] = {
    {{(const uint8_t *)"default", 7}, {(const uint8_t *)"service", 7}, false},
    {{(const uint8_t *)"default", 7}, {(const uint8_t *)"instance", 8}, false},
    {{(const uint8_t *)"default", 7}, {(const uint8_t *)"endpoint", 8}, false},
    {{(const uint8_t *)"", 0}, {(const uint8_t *)"value", 5}, false},
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static struct slice *make_strings(uint64_t *seed)
{
    static char bytes[DISTINCT * (2 * STRING_MEAN + 1) + 16];
    static struct slice strings[DISTINCT];
    char *at = bytes;
    memset(bytes, 'x', sizeof bytes);
    for (size_t i = 0; i < DISTINCT; i++) {
        strings[i] = slice_of(at, random_below(seed, 2 * STRING_MEAN + 1));
        at += strings[i].len;
    }
    return strings;
}

static struct cell make_cell(enum cell_kind kind, const struct slice *strings, uint64_t *seed)
{
    struct cell cell = {.kind = kind};
    if (kind == CELL_STRING) {
        cell.bytes = strings[random_below(seed, DISTINCT)];
    } else if (kind == CELL_FLOAT) {
        cell.number.f = (double)random_below(seed, 100000) / 8;
    } else {
        cell.number.i = (int64_t)random_below(seed, 100000);
    }
    return cell;
}

static struct row *make_rows(const struct shape *shape)
{
    /* A merge fills the same few cells again and again: they are in the cache. */
    static struct cell cells[HOT][CELLS];
    static struct row rows[ROWS];
    uint64_t seed = 7;
    const struct slice *strings = make_strings(&seed);
    for (size_t i = 0; i < HOT * CELLS; i++) {
        cells[i / CELLS][i % CELLS] = make_cell(shape->kinds[i % CELLS], strings, &seed);
    }
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = (struct row){.has_time = true,
                               .timestamp = 1796035800000000000 + (int64_t)(i / 384) * 60000000000,
                               .version = 1796037353477623349 + (int64_t)i,
                               .series = 0x9E3779B97F4A7C15u * (i % 128 + 1),
                               .cells = cells[i % HOT]};
    }
    return rows;
}

static double write_rows(const struct shape *shape, const struct row *rows, struct chain *chain)
{
    struct layout layout = {shape->tags, shape->fields, (struct layout_column *)(uintptr_t)columns};
    struct arena arena;
    struct response response;
    struct error err;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    double start = now();
    response_init(&response, chain, SIZE_MAX, &arena);
    bool ok = response.sink.begin(&response.sink, &layout, &err);
    for (size_t i = 0; ok && i < ROWS; i++) {
        ok = response.sink.row(&response.sink, &rows[i], &err);
    }
    double took = now() - start;
    assert(ok);
    arena_fini(&arena);
    return took;
}

/* One memcpy of the answer's bytes, into memory that was used before. */
static double copy_bytes(const struct chain *chain, uint8_t *to)
{
    double start = now();
    for (const struct chain_block *block = chain->first; block != NULL; block = block->next) {
        memcpy(to, block->bytes + block->begin, block->len);
        to += block->len;
    }
    return now() - start;
}

#define NEW_PB(arena, Type, init)                                                                  \
    __extension__({                                                                                \
        Type *made_ = arena_alloc((arena), sizeof(Type), 16);                                      \
        init(made_);                                                                               \
        made_;                                                                                     \
    })

typedef Banyandb__Measure__V1__DataPoint point;

static Banyandb__Model__V1__TagValue *tag_value(const struct cell *cell, struct arena *arena)
{
    Banyandb__Model__V1__TagValue *value =
        NEW_PB(arena, Banyandb__Model__V1__TagValue, banyandb__model__v1__tag_value__init);
    if (cell->kind == CELL_STRING) {
        value->value_case = BANYANDB__MODEL__V1__TAG_VALUE__VALUE_STR;
        value->str = NEW_PB(arena, Banyandb__Model__V1__Str, banyandb__model__v1__str__init);
        value->str->value = arena_strdup(arena, cell->bytes);
    } else if (cell->kind == CELL_INT) {
        value->value_case = BANYANDB__MODEL__V1__TAG_VALUE__VALUE_INT;
        value->int_ = NEW_PB(arena, Banyandb__Model__V1__Int, banyandb__model__v1__int__init);
        value->int_->value = cell->number.i;
    } else {
        value->value_case = BANYANDB__MODEL__V1__TAG_VALUE__VALUE_NULL;
    }
    return value;
}

static Banyandb__Model__V1__FieldValue *field_value(const struct cell *cell, struct arena *arena)
{
    Banyandb__Model__V1__FieldValue *value =
        NEW_PB(arena, Banyandb__Model__V1__FieldValue, banyandb__model__v1__field_value__init);
    if (cell->kind == CELL_INT) {
        value->value_case = BANYANDB__MODEL__V1__FIELD_VALUE__VALUE_INT;
        value->int_ = NEW_PB(arena, Banyandb__Model__V1__Int, banyandb__model__v1__int__init);
        value->int_->value = cell->number.i;
    } else {
        value->value_case = BANYANDB__MODEL__V1__FIELD_VALUE__VALUE_FLOAT;
        value->float_ = NEW_PB(arena, Banyandb__Model__V1__Float, banyandb__model__v1__float__init);
        value->float_->value = cell->number.f;
    }
    return value;
}

static Banyandb__Model__V1__TagFamily *tag_family(const struct shape *shape, const struct row *row,
                                                  struct arena *arena)
{
    Banyandb__Model__V1__TagFamily *family =
        NEW_PB(arena, Banyandb__Model__V1__TagFamily, banyandb__model__v1__tag_family__init);
    family->name = arena_strdup(arena, columns[0].family);
    family->n_tags = shape->tags;
    family->tags = arena_array(arena, Banyandb__Model__V1__Tag *, shape->tags);
    for (size_t i = 0; i < shape->tags; i++) {
        family->tags[i] = NEW_PB(arena, Banyandb__Model__V1__Tag, banyandb__model__v1__tag__init);
        family->tags[i]->key = arena_strdup(arena, columns[i].name);
        family->tags[i]->value = tag_value(&row->cells[i], arena);
    }
    return family;
}

static point *data_point(const struct shape *shape, const struct row *row, struct arena *arena)
{
    point *made = NEW_PB(arena, point, banyandb__measure__v1__data_point__init);
    made->timestamp = NEW_PB(arena, Google__Protobuf__Timestamp, google__protobuf__timestamp__init);
    made->timestamp->seconds = row->timestamp / 1000000000;
    made->timestamp->nanos = (int32_t)(row->timestamp % 1000000000);
    made->sid = row->series;
    made->version = row->version;
    made->n_tag_families = 1;
    made->tag_families = arena_array(arena, Banyandb__Model__V1__TagFamily *, 1);
    made->tag_families[0] = tag_family(shape, row, arena);
    made->n_fields = shape->fields;
    made->fields = arena_array(arena, Banyandb__Measure__V1__DataPoint__Field *, shape->fields);
    for (size_t i = 0; i < shape->fields; i++) {
        made->fields[i] = NEW_PB(arena, Banyandb__Measure__V1__DataPoint__Field,
                                 banyandb__measure__v1__data_point__field__init);
        made->fields[i]->name = arena_strdup(arena, columns[shape->tags + i].name);
        made->fields[i]->value = field_value(&row->cells[shape->tags + i], arena);
    }
    return made;
}

static double pack_rows(const struct shape *shape, const struct row *rows, uint8_t *to,
                        size_t expected)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    double start = now();
    Banyandb__Measure__V1__QueryResponse response;
    banyandb__measure__v1__query_response__init(&response);
    response.n_data_points = ROWS;
    response.data_points = arena_array(&arena, point *, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        response.data_points[i] = data_point(shape, &rows[i], &arena);
    }
    size_t size = banyandb__measure__v1__query_response__get_packed_size(&response);
    assert(size == expected);
    size = banyandb__measure__v1__query_response__pack(&response, to);
    double took = now() - start;
    arena_fini(&arena);
    return took;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

static void bench(const struct shape *shape)
{
    static double ours[RUNS];
    static double copies[RUNS];
    static double trees[RUNS];
    const size_t runs = held_is_all() ? 1 : RUNS;
    const struct row *rows = make_rows(shape);
    size_t bytes = 0;
    uint8_t *to = NULL;
    struct held held;
    held_begin(&held);
    for (size_t i = 0; i < runs; i++) {
        struct chain chain;
        chain_init(&chain, &held.charge);
        ours[i] = write_rows(shape, rows, &chain);
        bytes = chain.len;
        if (to == NULL) {
            held_look(&held);
            to = calloc(1, bytes);
        }
        copies[i] = copy_bytes(&chain, to);
        trees[i] = pack_rows(shape, rows, to, bytes);
        chain_fini(&chain);
    }
    free(to);
    qsort(ours, runs, sizeof *ours, by_value);
    qsort(copies, runs, sizeof *copies, by_value);
    qsort(trees, runs, sizeof *trees, by_value);
    printf("response, %s: %.2f MB in %.2f ms (median %.2f), %.1f ns/row; "
           "%.2f times memcpy (%.2f ms, median %.2f); tree and pack %.2f ms, %.1f times ours",
           shape->name, (double)bytes / 1e6, ours[0], ours[runs / 2], ours[0] * 1e6 / ROWS,
           ours[0] / copies[0], copies[0], copies[runs / 2], trees[0], trees[0] / ours[0]);
    held_tell(&held);
}

int main(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, INT32_MAX);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        bench(&shapes[i]);
    }
    return held_verdict();
}
