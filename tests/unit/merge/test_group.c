// SPDX-License-Identifier: Apache-2.0
/* A table that finds what was put, copies keys once, and grows with groups alone. */
#include "merge/group.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"

#include <stdio.h>

struct counted {
    struct group group;
    size_t hits;
};

static struct counted *hit(struct group_table *table, struct slice key)
{
    struct counted *counted = (struct counted *)group_put(table, key, group_hash(table, key));
    counted->hits++;
    return counted;
}

#define KEYS 50000 /* many parts of the table */

START_TEST(groups_count_their_keys)
{
    static size_t expected[KEYS];
    struct arena arena;
    struct group_table table;
    uint64_t state = 5;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    group_init(&table, sizeof(struct counted), &arena);
    memset(expected, 0, sizeof expected);
    size_t groups = 0;
    for (size_t i = 0; i < 1000000; i++) {
        size_t key = random_below(&state, 1 + random_below(&state, KEYS));
        char text[32];
        int len = snprintf(text, sizeof text, "key %zu", key);
        struct slice bytes = slice_of(text, (size_t)len + 1);
        groups += expected[key]++ == 0;
        const struct counted *counted = hit(&table, bytes);
        memset(text, '#', sizeof text); /* the table must not look at it again */
        ck_assert_uint_eq(counted->hits, expected[key]);
        ck_assert_uint_eq(table.count, groups);
    }
    struct group_walk walk = {0};
    const struct counted *counted;
    size_t walked = 0;
    while ((counted = (struct counted *)group_next(&table, &walk)) != NULL) {
        size_t key;
        ck_assert_int_eq(sscanf((const char *)counted->group.key.ptr, "key %zu", &key), 1);
        ck_assert_uint_eq(counted->hits, expected[key]);
        expected[key] = 0;
        walked++;
    }
    ck_assert_uint_eq(walked, groups);
    for (size_t key = 0; key < KEYS; key++) {
        ck_assert_uint_eq(expected[key], 0);
    }
    arena_fini(&arena);
}
END_TEST

START_TEST(the_empty_key_is_a_key)
{
    struct arena arena;
    struct group_table table;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    group_init(&table, sizeof(struct counted), &arena);
    const struct counted *empty = hit(&table, slice_of("", 0));
    ck_assert_ptr_ne(empty, hit(&table, slice_of("\0", 1)));
    ck_assert_ptr_eq(empty, hit(&table, slice_of("x", 0)));
    ck_assert_uint_eq(empty->hits, 2);
    arena_fini(&arena);
}
END_TEST

#define EQUAL 5000 /* more than a part holds: parts cannot be split for ever */

START_TEST(keys_of_equal_hash_are_told_apart)
{
    struct arena arena;
    struct group_table table;
    static struct group *groups[EQUAL];
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    group_init(&table, sizeof(struct counted), &arena);
    for (uint16_t i = 0; i < EQUAL; i++) {
        groups[i] = group_put(&table, slice_of(&i, sizeof i), 42);
    }
    for (uint16_t i = 0; i < EQUAL; i++) {
        ck_assert_ptr_eq(groups[i], group_put(&table, slice_of(&i, sizeof i), 42));
    }
    ck_assert_uint_eq(table.count, EQUAL);
    arena_fini(&arena);
}
END_TEST

static uint64_t hash_of(const struct group_table *table, const struct cell *cells)
{
    uint64_t hash = tuple_mix(0, group_hash_cell(table, &cells[0]));
    return tuple_mix(hash, group_hash_cell(table, &cells[1]));
}

/* Found by cells, and guessed by hash as soon as they are there. */
START_TEST(groups_of_cells)
{
    static struct group *groups[30][30];
    struct arena arena;
    struct group_table table;
    char texts[30][16];
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    group_init(&table, sizeof(struct counted), &arena);
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < 900; i++) {
            int len = snprintf(texts[i / 30], sizeof texts[0], "text %zu", i / 30);
            const struct cell cells[] = {
                {.kind = CELL_STRING, .bytes = slice_of(texts[i / 30], (size_t)len)},
                {.kind = i % 30 == 0 ? CELL_NULL : CELL_INT, .number.i = (int64_t)(i % 30)},
            };
            uint64_t hash = hash_of(&table, cells);
            ck_assert_ptr_eq(group_guess(&table, hash), groups[i / 30][i % 30]);
            groups[i / 30][i % 30] = group_put_cells(&table, cells, 2, hash);
            ck_assert_ptr_eq(group_guess(&table, hash), groups[i / 30][i % 30]);
            ck_assert(tuple_is(groups[i / 30][i % 30]->key, cells));
        }
        ck_assert_uint_eq(table.count, 900);
        memset(texts, '#', sizeof texts);
    }
    arena_fini(&arena);
}
END_TEST

/* Structs of a cache line begin on one. */
START_TEST(groups_are_aligned)
{
    struct arena arena;
    struct group_table table;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    group_init(&table, 64, &arena);
    for (uint8_t i = 0; i < 100; i++) {
        struct slice key = slice_of(&i, 1);
        struct group *group = group_put(&table, key, group_hash(&table, key));
        ck_assert_uint_eq((uintptr_t)group % 64, 0);
    }
    arena_fini(&arena);
}
END_TEST

START_TEST(memory_does_not_grow_with_rows)
{
    struct arena arena;
    struct group_table table;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    group_init(&table, sizeof(struct counted), &arena);
    for (uint32_t i = 0; i < 1000; i++) {
        hit(&table, slice_of(&i, sizeof i));
    }
    const uint8_t *at = arena.at;
    for (uint32_t i = 0; i < 1000000; i++) {
        uint32_t key = i % 1000;
        hit(&table, slice_of(&key, sizeof key));
    }
    ck_assert_ptr_eq(arena.at, at);
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge group");
    TCase *tests = tcase_create("group");
    tcase_add_test(tests, groups_count_their_keys);
    tcase_add_test(tests, the_empty_key_is_a_key);
    tcase_add_test(tests, keys_of_equal_hash_are_told_apart);
    tcase_add_test(tests, groups_of_cells);
    tcase_add_test(tests, groups_are_aligned);
    tcase_add_test(tests, memory_does_not_grow_with_rows);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
