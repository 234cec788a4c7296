// SPDX-License-Identifier: Apache-2.0
/* Windows: which of several copies lives, in which order the living come out. */
#include "merge/window.h"
#include "tests/unit/merge/opened.h"

#include <stdio.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define META         "time version series "

/* Frames of one key; rows are told as node.row. */
static const struct {
    const char *name;
    const char *frames[3];
    const char *rows;
} examples[] = {
    {"one row", {META "| 1 1 7"}, "0.0 "},
    {"one node, series ascend", {META "| 1 1 7 | 1 1 8 | 1 1 9"}, "0.0 0.1 0.2 "},
    {"one node, series descend", {META "| 1 1 9 | 1 1 8 | 1 1 7"}, "0.0 0.1 0.2 "},
    {"one node, a copy", {META "| 1 1 7 | 1 1 8 | 1 1 7"}, "0.0 0.1 "},
    {"one node, a copy next to it", {META "| 1 1 7 | 1 1 7 | 1 1 8"}, "0.0 0.2 "},
    {"one node, a newer copy", {META "| 1 1 7 | 1 1 8 | 1 2 7"}, "0.1 0.2 "},
    {"two nodes, all copies", {META "| 1 1 7 | 1 1 8", META "| 1 1 7 | 1 1 8"}, "0.0 0.1 "},
    {"two nodes, newer copies", {META "| 1 1 7 | 1 1 8", META "| 1 2 7 | 1 2 8"}, "1.0 1.1 "},
    {"two nodes, one newer each", {META "| 1 1 7 | 1 2 8", META "| 1 2 7 | 1 1 8"}, "0.1 1.0 "},
    {"three nodes, newer each time", {META "| 1 1 7", META "| 1 2 7", META "| 1 3 7"}, "2.0 "},
    {"three nodes, older each time", {META "| 1 3 7", META "| 1 2 7", META "| 1 1 7"}, "0.0 "},
    {"three nodes, the second newest", {META "| 1 1 7", META "| 1 3 7", META "| 1 2 7"}, "1.0 "},
    {"versions have a sign", {META "| 1 -1 7", META "| 1 -2 7"}, "0.0 "},
    {"series have none", {META "| 1 1 5 | 1 1 -1", META "| 1 1 -1 | 1 1 5"}, "0.0 0.1 "},
    {"the series is no order", {META "| 1 1 5", META "| 1 1 3"}, "0.0 1.0 "},
    {"times of one series", {META "| 1 1 7 | 2 1 7", META "| 2 2 7 | 3 1 7"}, "0.0 1.0 1.1 "},
    {"times that descend", {META "| 2 1 7 | 1 1 7", META "| 1 1 7 | 2 5 7"}, "0.1 1.1 "},
};

/* By a tag that none has: all rows have one key, whatever their times. */
static const struct layout no_columns;
static const struct plan one_key = {.group_count = 1, .order = PLAN_BY_TAG, .layout = &no_columns};

static void gather(struct window *window, struct arena *arena, struct source *source, size_t step)
{
    while (!source_is_drained(source)) {
        if (!window_is_settled(window)) {
            window_settle(window, arena, step);
        } else {
            size_t count = source_run(source, step);
            source_advance(source, window_add(window, arena, source, count));
        }
    }
}

static void check_window(struct window *window, const char *wanted, const char *name)
{
    char rows[256] = "";
    const struct window_row *row;
    while ((row = window_front(window)) != NULL) {
        ck_assert_ptr_eq(row, window_front(window));
        char text[32];
        snprintf(text, sizeof text, "%zu.%zu ", row->source->rank, (size_t)row->row);
        strcat(rows, row->old ? "" : text);
        window_drop(window);
    }
    ck_assert_msg(strcmp(rows, wanted) == 0, "%s: %s instead of %s", name, rows, wanted);
    ck_assert_ptr_null(window_front(window));
}

/* One window for all examples, as one merge has, filled in steps of one row and of all. */
START_TEST(copies_meet_and_the_newest_lives)
{
    struct arena arena;
    struct window window = {0};
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    for (size_t i = 0; i < 4 * COUNT(examples); i++) {
        const char *const *frames = examples[i / 4].frames;
        struct source *sources[3];
        size_t count = 0;
        for (; count < 3 && frames[count] != NULL; count++) {
            sources[count] = opened_source(frames[count], count, &one_key, &arena);
            gather(&window, &arena, sources[count], i % 2 == 0 ? SIZE_MAX : 1);
        }
        check_window(&window, examples[i / 4].rows, examples[i / 4].name);
        window_clear(&window);
        for (size_t k = 0; k < count; k++) {
            source_unpin(sources[k], NULL);
        }
    }
    arena_fini(&arena);
}
END_TEST

START_TEST(rows_of_other_groups_are_no_copies)
{
    struct arena arena;
    struct window window = {0};
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct source *sources[3];
    for (size_t i = 0; i < 3; i++) {
        sources[i] = opened_source(META "| 1 1 7 | 1 1 8", i, &one_key, &arena);
        sources[i]->group = i / 2;
        gather(&window, &arena, sources[i], SIZE_MAX);
    }
    check_window(&window, "0.0 0.1 2.0 2.1 ", "two groups, copies in the first");
    for (size_t i = 0; i < 3; i++) {
        source_unpin(sources[i], NULL);
    }
    arena_fini(&arena);
}
END_TEST

/* Rows that differ in one thing alone, and whose hashes are equal all the same. */
START_TEST(equal_hashes_are_no_copies)
{
    static const struct {
        size_t group;
        const char *frame;
        uint64_t series[2];
        int64_t times[2];
    } table[] = {
        {1, META "| 1 1 8226699545898768374", {8226699545898768374u, 8226699545898768374u}, {1, 1}},
        {0,
         META "| 1 1 3449582676761291415 | 1 1 3644625248001531947",
         {3449582676761291415u, 3644625248001531947u},
         {1, 1}},
        {0, META "| 3402522832 1 7 | 989297903 1 7", {7, 7}, {3402522832, 989297903}},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct arena arena;
        struct window window = {0};
        arena_init(&arena, SIZE_MAX, NULL, NULL);
        ck_assert_uint_eq(seen_hash(0, table[i].series[0], table[i].times[0]),
                          seen_hash(table[i].group, table[i].series[1], table[i].times[1]));
        struct source *sources[2];
        for (size_t k = 0; k < 2; k++) {
            sources[k] = opened_source(table[i].frame, k, &one_key, &arena);
            sources[k]->group = k * table[i].group;
            gather(&window, &arena, sources[k], SIZE_MAX);
        }
        check_window(&window, table[i].group == 1 ? "0.0 1.0 " : "0.0 0.1 ", table[i].frame);
        source_unpin(sources[0], NULL);
        source_unpin(sources[1], NULL);
        arena_fini(&arena);
    }
}
END_TEST

START_TEST(the_table_is_begun_when_it_is_needed)
{
    struct arena arena;
    struct window window = {0};
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct source *first = opened_source(META "| 1 1 7 | 1 1 8 | 1 1 9", 0, &one_key, &arena);
    struct source *behind = opened_source(META "| 1 1 10", 1, &one_key, &arena);
    struct source *between = opened_source(META "| 1 1 8", 2, &one_key, &arena);
    gather(&window, &arena, first, SIZE_MAX);
    gather(&window, &arena, behind, SIZE_MAX);
    ck_assert_ptr_null(window.seen.parts.only.slots);
    gather(&window, &arena, between, SIZE_MAX);
    ck_assert_ptr_nonnull(window.seen.parts.only.slots);
    check_window(&window, "0.0 0.1 0.2 1.0 ", "three nodes");
    source_unpin(first, NULL);
    source_unpin(behind, NULL);
    source_unpin(between, NULL);
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("window");
    TCase *tcase = tcase_create("window");
    tcase_add_test(tcase, copies_meet_and_the_newest_lives);
    tcase_add_test(tcase, rows_of_other_groups_are_no_copies);
    tcase_add_test(tcase, equal_hashes_are_no_copies);
    tcase_add_test(tcase, the_table_is_begun_when_it_is_needed);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
