// SPDX-License-Identifier: Apache-2.0
/* Views: columns are found by role, the list grows without losing any. */
#include "frame/view.h"
#include "tests/support/frame_test.h"
#include "tests/unit/frame/unit.h"

START_TEST(columns_are_found_by_role)
{
    struct column columns[] = {
        {.role = COLUMN_TAG, .mask = 0},
        {.role = COLUMN_TIMESTAMP},
        {.role = COLUMN_TAG},
    };
    struct view view = {.columns = columns, .column_count = 3};
    ck_assert_ptr_eq(view_role(&view, COLUMN_TAG), &columns[0]);
    ck_assert_ptr_eq(view_role(&view, COLUMN_TIMESTAMP), &columns[1]);
    ck_assert_ptr_null(view_role(&view, COLUMN_SERIES));
}
END_TEST

START_TEST(the_list_grows)
{
    struct test_room room;
    test_room_init(&room);
    struct view view = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        struct column *column = view_add_column(&view, &room.room);
        ck_assert(column->mask == SIZE_MAX && column->null_count == 0);
        column->null_count = i;
    }
    ck_assert_uint_eq(view.column_count, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        ck_assert_uint_eq(view.columns[i].null_count, i);
    }
    test_room_fini(&room);
}
END_TEST

START_TEST(cells_of_constants)
{
    const uint32_t offsets[] = {0, 3};
    const uint8_t none = 0;
    struct column column = {.type = COLUMN_STRING,
                            .constant = true,
                            .values = (const uint8_t *)"abc",
                            .starts = offsets,
                            .ends = offsets + 1};
    ck_assert(slice_equal(column_bytes(&column, 1000000), slice_str("abc")));
    ck_assert(!column_is_null(&column, 1000000));
    column.validity = &none;
    ck_assert(column_is_null(&column, 1000000));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("view");
    TCase *tcase = tcase_create("view");
    tcase_add_test(tcase, columns_are_found_by_role);
    tcase_add_test(tcase, the_list_grows);
    tcase_add_test(tcase, cells_of_constants);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
