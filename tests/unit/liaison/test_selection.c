// SPDX-License-Identifier: Apache-2.0
/* Which members a group asks and which it misses. */
#include "liaison/cluster/selection.h"
#include "liaison/own.h"
#include "tests/unit/frame/unit.h"

#include <stdio.h>

enum { HOT_1, HOT_2, WARM, COUNT };

static struct world *world;
static bool up[COUNT];
static uint32_t asked[COUNT];
static uint32_t missing[COUNT];
static struct selection selection = {.asked = asked, .missing = missing};
static struct error err;

static struct member member_of(const char *name, const char *type)
{
    struct member member = {.name = own_text(name),
                            .address = own_text(name),
                            .label_count = 1,
                            .labels = own_array(1, sizeof(struct label)),
                            .reached = true};
    member.labels[0] = (struct label){own_text("type"), own_text(type)};
    return member;
}

static void setup(void)
{
    struct catalog_store *store = catalog_store_new();
    struct member *members = own_array(COUNT, sizeof *members);
    members[0] = member_of("d3", "warm"); /* a world sorts by name */
    members[1] = member_of("d1", "hot");
    members[2] = member_of("d2", "hot");
    world = world_new(catalog_snapshot(store), members, COUNT, 0);
    catalog_store_free(&store);
    memset(up, true, sizeof up);
    err = (struct error){0};
}

static void teardown(void)
{
    world_release(&world);
    ck_assert_ptr_null(world);
}

static bool select_for(const char *first, const char *second)
{
    const struct slice selectors[] = {slice_str(first == NULL ? "" : first),
                                      slice_str(second == NULL ? "" : second)};
    const size_t count = first == NULL ? 0 : second == NULL ? 1 : 2;
    return selection_make(&selection, world, up, slice_str("sw"), selectors, count, &err);
}

/* "asked|missing" as letters of the members. */
static const char *outcome(void)
{
    static char text[16];
    size_t used = 0;
    for (size_t i = 0; i < selection.asked_count; i++) {
        text[used++] = (char)('a' + asked[i]);
    }
    text[used++] = '|';
    for (size_t i = 0; i < selection.missing_count; i++) {
        text[used++] = (char)('a' + missing[i]);
    }
    text[used] = '\0';
    return text;
}

START_TEST(no_selector_asks_everybody)
{
    ck_assert(select_for(NULL, NULL));
    ck_assert_str_eq(outcome(), "abc|");
}
END_TEST

START_TEST(any_selector_is_enough)
{
    ck_assert(select_for("type=hot", NULL));
    ck_assert_str_eq(outcome(), "ab|");
    ck_assert(select_for("type=hot", "type=warm"));
    ck_assert_str_eq(outcome(), "abc|");
}
END_TEST

START_TEST(those_that_are_down_are_missing)
{
    up[HOT_2] = false;
    ck_assert(select_for("type=hot", NULL));
    ck_assert_str_eq(outcome(), "a|b");
    ck_assert(select_for("type=warm", NULL));
    ck_assert_str_eq(outcome(), "c|");
}
END_TEST

START_TEST(those_that_left_are_missing_though_connected)
{
    world->members[WARM].left_at = 1;
    ck_assert(select_for(NULL, NULL));
    ck_assert_str_eq(outcome(), "ab|c");
    ck_assert(select_for("type=hot", NULL));
    ck_assert_str_eq(outcome(), "ab|");
}
END_TEST

START_TEST(those_never_reached_match_everything)
{
    world->members[HOT_1].reached = false;
    ck_assert(select_for("type=warm", NULL));
    ck_assert_str_eq(outcome(), "c|a");
}
END_TEST

START_TEST(nobody_is_up)
{
    memset(up, false, sizeof up);
    ck_assert(!select_for(NULL, NULL));
    ck_assert_str_eq(err.text, "no active nodes");
    ck_assert_int_eq(err.code, ERROR_UNAVAILABLE);
    ck_assert(!select_for("type=hot", NULL));
    ck_assert_str_eq(err.text, "no active nodes");
}
END_TEST

START_TEST(nobody_matches)
{
    ck_assert(!select_for("type=cold", NULL));
    ck_assert_str_eq(err.text, "no nodes match the selector map[sw:[type=cold]]");
    ck_assert_int_eq(err.code, ERROR_UNAVAILABLE);
    ck_assert(!select_for("type=cold", "zone"));
    ck_assert_str_eq(err.text, "no nodes match the selector map[sw:[type=cold zone]]");
}
END_TEST

START_TEST(a_bad_selector)
{
    ck_assert(!select_for("type=hot", "a in x"));
    ck_assert_str_eq(err.text, "failed to parse node selector: invalid selector \"a in x\": set "
                               "operations require parenthesized values");
    ck_assert_int_eq(err.code, ERROR_INVALID_ARGUMENT);
}
END_TEST

START_TEST(members_are_found_by_name)
{
    ck_assert_str_eq(world_member(world, "d2")->name, "d2");
    ck_assert_ptr_null(world_member(world, "d4"));
    ck_assert_str_eq(member_label(world_member(world, "d3"), "type"), "warm");
    ck_assert_ptr_null(member_label(world_member(world, "d3"), "zone"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("selection");
    TCase *tcase = tcase_create("selection");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, no_selector_asks_everybody);
    tcase_add_test(tcase, any_selector_is_enough);
    tcase_add_test(tcase, those_that_are_down_are_missing);
    tcase_add_test(tcase, those_that_left_are_missing_though_connected);
    tcase_add_test(tcase, those_never_reached_match_everything);
    tcase_add_test(tcase, nobody_is_up);
    tcase_add_test(tcase, nobody_matches);
    tcase_add_test(tcase, a_bad_selector);
    tcase_add_test(tcase, members_are_found_by_name);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
