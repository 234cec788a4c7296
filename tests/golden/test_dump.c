// SPDX-License-Identifier: Apache-2.0
/* What the subcommand prints: the table, character checks, names that are not UTF-8, exit codes. */
#include "frame/decode.h"
#include "liaison/dump.h"
#include "liaison/dump_text.h"
#include "tests/support/frame_test.h"
#include "tests/unit/frame/samples.h"
#include "tests/unit/frame/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(table)
{
    uint8_t buf[SAMPLE_MAX];
    struct placed placed = place_bytes(slice_of(buf, hex_bytes(SAMPLE_V4, buf, sizeof buf)), 0);
    struct test_room room;
    struct view view;
    test_room_init(&room);
    ck_assert(decode_view(placed.bytes, DECODE_V4, &room.room, &view, NULL));
    char *text = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&text, &len);
    ck_assert(dump_table(&view, memory));
    fclose(memory);
    ck_assert_str_eq(text,
                     "version 4, 2 rows, 4 columns\n"
                     "     row  (no name)        (no name)        default.svc  v\n"
                     "          timestamp int64  series_id int64  tag string   field float64\n"
                     "          -                constant         1 null       1 null\n"
                     "       0  1                42               \"a\"          1.5\n"
                     "       1  2                42               null         null\n");
    free(text);
    test_room_fini(&room);
    free(placed.block);
}
END_TEST

START_TEST(characters)
{
    static const struct {
        const char *bytes;
        size_t len;
    } rows[] = {
        {"a", 1},
        {"\x7f", 1},
        {"\xc3\xa9", 2},
        {"\xe2\x82\xac", 3},
        {"\xf0\x9f\x98\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"", 0},
        {"\x80", 0},             /* a continuation alone */
        {"\xc0\xaf", 0},         /* not the shortest form */
        {"\xe0\x80\xaf", 0},     /* likewise */
        {"\xf0\x80\x80\xaf", 0}, /* likewise */
        {"\xed\xa0\x80", 0},     /* a surrogate */
        {"\xf4\x90\x80\x80", 0}, /* above U+10FFFF */
        {"\xf8\x88\x80\x80", 0},
        {"\xc3", 0},
        {"\xe2\x82", 0},
        {"\xc3x", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct slice bytes = slice_str(rows[i].bytes);
        ck_assert_uint_eq(dump_text_character(bytes), rows[i].len);
        /* jansson, which refuses the document otherwise, agrees */
        json_t *json = json_stringn(rows[i].bytes, bytes.len);
        ck_assert((json != NULL) == (rows[i].len > 0 || bytes.len == 0));
        json_decref(json);
    }
}
END_TEST

START_TEST(names_that_are_not_utf8)
{
    struct column column = {.role = COLUMN_TAG,
                            .type = COLUMN_STRING,
                            .name = slice_of("a\xff\xc3\xa9\0", 5),
                            .family = slice_str("f")};
    struct view view = {.version = 4, .columns = &column, .column_count = 1};
    json_t *json = dump_json(&view);
    json_t *object = json_array_get(json_object_get(json, "columns"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(object, "name")), "a\xEF\xBF\xBD\xC3\xA9");
    ck_assert_str_eq(json_string_value(json_object_get(object, "name_hex")), "61ffc3a900");
    ck_assert_uint_eq(json_string_length(json_object_get(object, "name")), 7);
    ck_assert_str_eq(json_string_value(json_object_get(object, "family")), "f");
    ck_assert_ptr_null(json_object_get(object, "family_hex"));
    json_decref(json);
}
END_TEST

static int run(const char *first, const char *second)
{
    char *words[] = {strdup("frame"), first == NULL ? NULL : strdup(first),
                     second == NULL ? NULL : strdup(second), NULL};
    int argc = first == NULL ? 1 : second == NULL ? 2 : 3;
    int status = dump_main(argc, words);
    for (int i = 0; i < argc; i++) {
        free(words[i]);
    }
    return status;
}

/* What was asked for goes where a pipe takes it. */
START_TEST(help)
{
    static const char *const words[][2] = {
        {"--help", NULL}, {"-h", NULL}, {"--json", "--help"}, {"--help", "/nonexistent/frame.bin"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char path[] = "/tmp/dump-help-XXXXXX";
        char text[128] = "";
        const int file = mkstemp(path);
        const int kept = dup(STDOUT_FILENO);
        fflush(stdout);
        ck_assert_int_eq(dup2(file, STDOUT_FILENO), STDOUT_FILENO);
        const int status = run(words[i][0], words[i][1]);
        ck_assert_int_eq(dup2(kept, STDOUT_FILENO), STDOUT_FILENO);
        ck_assert_int_eq(status, 0);
        ck_assert_int_gt(pread(file, text, sizeof text - 1, 0), 0);
        ck_assert_ptr_nonnull(strstr(text, "bydb-liaison frame [--json] FILE"));
        close(kept);
        close(file);
        unlink(path);
    }
}
END_TEST

START_TEST(exit_codes)
{
    ck_assert(freopen("/dev/null", "w", stderr) != NULL);
    ck_assert_int_eq(run(NULL, NULL), 2);
    ck_assert_int_eq(run("--json", NULL), 2);
    ck_assert_int_eq(run("--unknown", "x"), 2);
    ck_assert_int_eq(run("x", "y"), 2);
    ck_assert_int_eq(run("/nonexistent/frame.bin", NULL), 1);
    ck_assert_int_eq(run("/dev/null", NULL), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dump");
    TCase *tcase = tcase_create("dump");
    tcase_add_test(tcase, table);
    tcase_add_test(tcase, characters);
    tcase_add_test(tcase, names_that_are_not_utf8);
    tcase_add_test(tcase, help);
    tcase_add_test(tcase, exit_codes);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
