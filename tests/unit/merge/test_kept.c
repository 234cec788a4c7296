// SPDX-License-Identifier: Apache-2.0
/* Copies that outlive what they were made from, in storage that is used again. */
#include "merge/kept.h"
#include "tests/unit/frame/unit.h"

static struct cell text(const char *value)
{
    return (struct cell){.kind = CELL_STRING, .bytes = slice_str(value)};
}

START_TEST(cells_outlive_their_frame)
{
    char message[] = "\x1a\x03\x0a\x01\x61"; /* TagValue{str_array: ["a"]} */
    char string[] = "string";
    const struct column column = {.role = COLUMN_TAG, .type = COLUMN_TAG_VALUE};
    struct cell cell;
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct kept kept = kept_new(3, &arena);
    ck_assert_int_eq(kept.cells[2].kind, CELL_NULL);
    ck_assert(cell_read_message(&column, slice_str(message), &cell));
    kept_put(&kept, 0, &cell, &arena);
    cell = text(string);
    kept_put(&kept, 1, &cell, &arena);
    cell = (struct cell){.kind = CELL_INT, .number.i = 7};
    kept_put(&kept, 2, &cell, &arena);
    memset(message, '#', sizeof message);
    memset(string, '#', sizeof string);
    ck_assert(slice_equal(kept.cells[0].bytes, slice_str("\x1a\x03\x0a\x01\x61")));
    ck_assert(slice_equal(kept.cells[0].inner, slice_str("\x0a\x01\x61")));
    ck_assert(slice_equal(kept.cells[1].bytes, slice_str("string")));
    ck_assert_int_eq(kept.cells[2].number.i, 7);
    arena_fini(&arena);
}
END_TEST

START_TEST(storage_is_used_again)
{
    static const char *const values[] = {"twenty bytes of text", "short", "",
                                         "twenty more letters"};
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct kept kept = kept_new(1, &arena);
    struct cell cell = text(values[0]);
    kept_put(&kept, 0, &cell, &arena);
    const uint8_t *at = arena.at;
    for (size_t i = 0; i < 4000; i++) {
        cell = i % 5 == 4 ? (struct cell){.kind = CELL_NULL} : text(values[i % 5]);
        kept_put(&kept, 0, &cell, &arena);
        ck_assert_int_eq(kept.cells[0].kind, cell.kind);
        ck_assert(cell.kind == CELL_NULL || slice_equal(kept.cells[0].bytes, cell.bytes));
    }
    ck_assert_ptr_eq(arena.at, at);
    arena_fini(&arena);
}
END_TEST

START_TEST(growing_values_leave_little_behind)
{
    static char bytes[4096];
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct kept kept = kept_new(1, &arena);
    for (size_t len = 1; len <= sizeof bytes; len++) {
        struct cell cell = {.kind = CELL_BINARY, .bytes = slice_of(bytes, len)};
        kept_put(&kept, 0, &cell, &arena);
    }
    ck_assert_uint_le(arena.capacity, 3 * sizeof bytes + 8192);
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge kept");
    TCase *tests = tcase_create("kept");
    tcase_add_test(tests, cells_outlive_their_frame);
    tcase_add_test(tests, storage_is_used_again);
    tcase_add_test(tests, growing_values_leave_little_behind);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
