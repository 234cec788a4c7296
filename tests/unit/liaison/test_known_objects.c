// SPDX-License-Identifier: Apache-2.0
/* Revisions that need not be fetched: newest first, and no more of them than there may be. */
#include "liaison/cluster/known_objects.h"
#include "tests/unit/frame/unit.h"

#include <stdio.h>

static const char *id_of(size_t number)
{
    static char id[64];
    (void)snprintf(id, sizeof id, "measure_group_name-%zu", number);
    return id;
}

START_TEST(a_revision_is_known_with_all_older_ones)
{
    struct known_objects known = {0};
    ck_assert(!known_objects_has(&known, "a", 0));
    known_objects_note(&known, "a", 20);
    ck_assert(known_objects_has(&known, "a", 19));
    ck_assert(known_objects_has(&known, "a", 20));
    ck_assert(!known_objects_has(&known, "a", 21));
    ck_assert(!known_objects_has(&known, "b", 20));
    known_objects_note(&known, "a", 10); /* older: changes nothing */
    ck_assert(known_objects_has(&known, "a", 20));
    known_objects_note(&known, "a", 30);
    ck_assert(known_objects_has(&known, "a", 30));
    ck_assert_uint_eq(known.count, 1);
    known_objects_note(&known, "", -5);
    ck_assert(known_objects_has(&known, "", -5));
    ck_assert(!known_objects_has(&known, "", -4));
    known_objects_fini(&known);
    ck_assert(!known_objects_has(&known, "a", 0));
}
END_TEST

START_TEST(many_are_all_found)
{
    struct known_objects known = {0};
    for (size_t i = 0; i < 10000; i++) {
        known_objects_note(&known, id_of(i), (int64_t)i);
    }
    ck_assert_uint_eq(known.count, 10000);
    for (size_t i = 0; i < 10000; i++) {
        ck_assert(known_objects_has(&known, id_of(i), (int64_t)i));
        ck_assert(!known_objects_has(&known, id_of(i), (int64_t)i + 1));
        ck_assert(!known_objects_has(&known, id_of(10000 + i), 0));
    }
    known_objects_fini(&known);
}
END_TEST

/* A server that invents ids fills no memory. */
START_TEST(what_is_kept_is_bounded)
{
    struct known_objects known = {0};
    for (size_t i = 0; i < 3 * KNOWN_OBJECTS_MAX; i++) {
        known_objects_note(&known, id_of(i), 1);
        ck_assert(known_objects_has(&known, id_of(i), 1));
        ck_assert_uint_le(known.count, KNOWN_OBJECTS_MAX);
        ck_assert_uint_le(known.capacity, 2 * KNOWN_OBJECTS_MAX);
    }
    known_objects_fini(&known);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("known_objects");
    TCase *tcase = tcase_create("known_objects");
    tcase_add_test(tcase, a_revision_is_known_with_all_older_ones);
    tcase_add_test(tcase, many_are_all_found);
    tcase_add_test(tcase, what_is_kept_is_bounded);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
