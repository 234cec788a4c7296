// SPDX-License-Identifier: Apache-2.0
/* Column kinds: names for the known bytes only, and the whole table of pairs. */
#include "frame/column.h"
#include "tests/unit/frame/unit.h"

START_TEST(names)
{
    ck_assert_str_eq(column_role_name(COLUMN_SERIES), "series_id");
    ck_assert_str_eq(column_type_name(COLUMN_TAG_VALUE), "tag_value");
    ck_assert_ptr_null(column_role_name(0));
    ck_assert_ptr_null(column_role_name(7));
    ck_assert_ptr_null(column_type_name(0));
    ck_assert_ptr_null(column_type_name(255));
}
END_TEST

START_TEST(pairs)
{
    static const char *const allowed[] = {
        /* types 0 … 7 of each role 0 … 7 */
        "........", ".x......", ".x......", ".x......",
        ".x......", ".xxxxx..", ".xxxx.x.", "........",
    };
    for (uint8_t role = 0; role < 8; role++) {
        for (uint8_t type = 0; type < 8; type++) {
            ck_assert_msg(column_pair_allowed(role, type) == (allowed[role][type] == 'x'),
                          "role %u type %u", role, type);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("column");
    TCase *tcase = tcase_create("column");
    tcase_add_test(tcase, names);
    tcase_add_test(tcase, pairs);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
