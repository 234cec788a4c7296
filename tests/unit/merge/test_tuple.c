// SPDX-License-Identifier: Apache-2.0
/* Keys are equal exactly when kinds and values are, and read back as what was spelled. */
#include "merge/tuple.h"
#include "tests/unit/frame/unit.h"

#include <math.h>

static struct cell number(int64_t value)
{
    return (struct cell){.kind = CELL_INT, .number.i = value};
}

static struct cell real(double value)
{
    return (struct cell){.kind = CELL_FLOAT, .number.f = value};
}

static struct cell bytes(enum cell_kind kind, const char *value)
{
    return (struct cell){.kind = kind, .bytes = slice_str(value)};
}

/* TagValue{str_array}, TagValue{int_array} and TagValue{timestamp} with the same inner bytes. */
static struct cell message(const char *value)
{
    static const struct column column = {.role = COLUMN_TAG, .type = COLUMN_TAG_VALUE};
    struct cell cell;
    ck_assert(cell_read_message(&column, slice_str(value), &cell));
    return cell;
}

#define STRINGS "\x1a\x03\x0a\x01\x61"
#define INTS    "\x2a\x03\x0a\x01\x61"

START_TEST(different_values_are_spelled_differently)
{
    const struct cell cells[] = {
        {.kind = CELL_NULL},
        number(0),
        number(1),
        number(-1),
        number(INT64_MIN),
        real(0),
        real(1),
        real(INFINITY),
        real(-INFINITY),
        real(NAN),
        bytes(CELL_STRING, ""),
        bytes(CELL_STRING, "a"),
        bytes(CELL_STRING, "b"),
        bytes(CELL_STRING, "ab"),
        bytes(CELL_BINARY, ""),
        bytes(CELL_BINARY, "a"),
        message(STRINGS),
        message(INTS),
        bytes(CELL_STRING, STRINGS),
    };
    const size_t count = sizeof cells / sizeof *cells;
    struct arena arena;
    struct tuple tuple;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    tuple_init(&tuple, &arena);
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < count; b++) {
            tuple_clear(&tuple);
            tuple_put(&tuple, &cells[a]);
            size_t start = tuple.len;
            tuple_put(&tuple, &cells[b]);
            struct slice first = slice_of(tuple.bytes, start);
            ck_assert_msg(slice_equal(first, tuple_since(&tuple, start)) == (a == b),
                          "cells %zu and %zu", a, b);
            ck_assert_msg(tuple_is(first, &cells[b]) == (a == b), "cells %zu and %zu", a, b);
            ck_assert_msg((tuple_hash(&cells[a], 7) == tuple_hash(&cells[b], 7)) == (a == b),
                          "hashes of cells %zu and %zu", a, b);
        }
    }
    arena_fini(&arena);
}
END_TEST

START_TEST(equal_floats_are_spelled_alike)
{
    const struct cell pairs[][2] = {
        {real(0.0), real(-0.0)},
        {real(NAN), real(-NAN)},
        {real(0.1 + 0.2), real(0.30000000000000004)},
    };
    struct arena arena;
    struct tuple tuple;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    tuple_init(&tuple, &arena);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        tuple_clear(&tuple);
        tuple_put(&tuple, &pairs[i][0]);
        tuple_put(&tuple, &pairs[i][1]);
        struct slice first = slice_of(tuple.bytes, 9);
        ck_assert(slice_equal(first, tuple_since(&tuple, 9)));
        ck_assert(tuple_is(first, &pairs[i][1]));
        ck_assert_uint_eq(tuple_hash(&pairs[i][0], 3), tuple_hash(&pairs[i][1], 3));
    }
    arena_fini(&arena);
}
END_TEST

static uint64_t hash_of(const struct cell *cells)
{
    return tuple_mix(tuple_mix(0, tuple_hash(&cells[0], 1)), tuple_hash(&cells[1], 1));
}

/* No key can be moved from one cell to the next: {"a", "bc"} is not {"ab", "c"}. */
START_TEST(the_border_between_cells_counts)
{
    const struct cell keys[][2] = {
        {bytes(CELL_STRING, "a"), bytes(CELL_STRING, "bc")},
        {bytes(CELL_STRING, "ab"), bytes(CELL_STRING, "c")},
        {bytes(CELL_STRING, "c"), bytes(CELL_STRING, "ab")},
        {bytes(CELL_STRING, ""), bytes(CELL_STRING, "abc")},
        {bytes(CELL_STRING, "abc"), {.kind = CELL_NULL}},
        {{.kind = CELL_NULL}, bytes(CELL_STRING, "abc")},
    };
    const size_t count = sizeof keys / sizeof *keys;
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    for (size_t a = 0; a < count; a++) {
        struct slice spelled = tuple_spell(keys[a], 2, &arena);
        for (size_t b = 0; b < count; b++) {
            ck_assert_msg(tuple_is(spelled, keys[b]) == (a == b), "keys %zu and %zu", a, b);
            uint64_t hash_a = hash_of(keys[a]);
            uint64_t hash_b = hash_of(keys[b]);
            ck_assert_msg((hash_a == hash_b) == (a == b), "hashes of keys %zu and %zu", a, b);
        }
    }
    arena_fini(&arena);
}
END_TEST

START_TEST(what_was_spelled_reads_back)
{
    char text[1000];
    memset(text, 'x', sizeof text);
    const struct cell cells[] = {
        number(INT64_MIN),
        {.kind = CELL_NULL},
        {.kind = CELL_STRING, .bytes = slice_of(text, sizeof text)},
        message(STRINGS),
        real(-2.5),
        bytes(CELL_BINARY, "\x01\x02"),
        bytes(CELL_STRING, ""),
    };
    const size_t count = sizeof cells / sizeof *cells;
    struct arena arena;
    struct tuple tuple;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    tuple_init(&tuple, &arena);
    for (size_t i = 0; i < count; i++) {
        tuple_put(&tuple, &cells[i]);
    }
    struct slice rest = tuple_spell(cells, count, &arena);
    ck_assert(slice_equal(rest, tuple_since(&tuple, 0)));
    ck_assert(tuple_is(rest, cells));
    for (size_t i = 0; i < count; i++) {
        struct cell cell = tuple_take(&rest);
        ck_assert_int_eq(cell.kind, cells[i].kind);
        if (cell.kind == CELL_INT || cell.kind == CELL_FLOAT) {
            ck_assert_mem_eq(&cell.number, &cells[i].number, sizeof cell.number);
        } else {
            ck_assert(slice_equal(cell.bytes, cells[i].bytes));
        }
        if (cell.kind == CELL_STRINGS) {
            ck_assert(slice_equal(cell.inner, cells[i].inner));
        }
    }
    ck_assert_uint_eq(rest.len, 0);
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge tuple");
    TCase *tests = tcase_create("tuple");
    tcase_add_test(tests, different_values_are_spelled_differently);
    tcase_add_test(tests, equal_floats_are_spelled_alike);
    tcase_add_test(tests, the_border_between_cells_counts);
    tcase_add_test(tests, what_was_spelled_reads_back);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
