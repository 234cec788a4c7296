// SPDX-License-Identifier: Apache-2.0
/* Lines are whole whatever their values hold, and only those that are wanted are written. */
#include "liaison/log.h"
#include "tests/unit/frame/unit.h"

#include <jansson.h>

#include <string.h>
#include <unistd.h>

static int pipe_ends[2];
static struct log *log_under_test;
static char line[65536];

static void open_log(enum log_form form, enum log_level level)
{
    log_under_test = log_new(pipe_ends[1], form, level);
}

static void setup(void)
{
    ck_assert_int_eq(pipe(pipe_ends), 0);
}

static void teardown(void)
{
    log_free(&log_under_test);
    ck_assert_ptr_null(log_under_test);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static const char *written(void)
{
    const ssize_t len = read(pipe_ends[0], line, sizeof line - 1);
    ck_assert_int_gt(len, 0);
    line[len] = '\0';
    ck_assert_int_eq(line[len - 1], '\n');
    ck_assert_ptr_eq(strchr(line, '\n'), line + len - 1);
    return line;
}

static json_t *parsed(void)
{
    json_error_t why;
    json_t *found = json_loads(written(), 0, &why);
    ck_assert_msg(found != NULL, "%s: %s", why.text, line);
    return found;
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

START_TEST(fields_and_their_types)
{
    open_log(LOG_JSON, LOG_INFO);
    log_warn(log_under_test, "CLUSTER.NODE",
             "node %s is down; node=%s calls=%zu less=%d latency=%.1f req:%s cut=%.*s big=%llu "
             "addr=%s:%u",
             "d1", "d1:17912", (size_t)3, -4, 1.25, "{\"a\":[1]}", 2, "abc", 1ull << 40, "host",
             80u);
    json_t *found = parsed();
    ck_assert_str_eq(text_of(found, "level"), "warn");
    ck_assert_str_eq(text_of(found, "module"), "CLUSTER.NODE");
    ck_assert_str_eq(text_of(found, "message"), "node d1 is down");
    ck_assert_str_eq(text_of(found, "node"), "d1:17912");
    ck_assert_int_eq(json_integer_value(json_object_get(found, "calls")), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(found, "less")), -4);
    ck_assert(json_real_value(json_object_get(found, "latency")) == 1.2);
    ck_assert(json_is_array(json_object_get(json_object_get(found, "req"), "a")));
    ck_assert_str_eq(text_of(found, "cut"), "ab");
    ck_assert_int_eq(json_integer_value(json_object_get(found, "big")), 1ll << 40);
    ck_assert_str_eq(text_of(found, "addr"), "host:80");
    ck_assert_uint_ge(strlen(text_of(found, "time")), strlen("2026-11-30T12:00:00Z"));
    json_decref(found);
}
END_TEST

START_TEST(nothing_breaks_a_line)
{
    const char *volatile nothing = NULL; /* volatile: the compiler would warn */
    open_log(LOG_JSON, LOG_INFO);
    log_info(log_under_test, "X", "bad; value=%s null=%s", "a\"b\\c\nd\x01\x7f\xff\xc3\xa9\xe2\x82",
             nothing);
    json_t *found = parsed();
    ck_assert_str_eq(text_of(found, "value"),
                     "a\"b\\c\nd\x01\x7f\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
    ck_assert_str_eq(text_of(found, "null"), "");
    json_decref(found);
}
END_TEST

START_TEST(too_much_is_cut_and_the_line_stays_whole)
{
    static char huge[20000];
    memset(huge, '"', sizeof huge - 1);
    open_log(LOG_JSON, LOG_INFO);
    log_info(log_under_test, "X", "%s; first=%s req:%s last=%d", huge, huge, huge, 7);
    json_t *found = parsed();
    ck_assert_uint_gt(strlen(text_of(found, "message")), 100);
    ck_assert_int_eq(json_integer_value(json_object_get(found, "last")), 7);
    json_decref(found);
}
END_TEST

/* Values around the size of the line: every length gives a whole line. */
START_TEST(every_length)
{
    static char text[9000];
    open_log(LOG_JSON, LOG_INFO);
    for (size_t len = 6400; len < 6800; len++) {
        memset(text, '\n', len);
        text[len] = '\0';
        log_info(log_under_test, "X", "m; a=%s b=%s c=%d", text + len / 2, text + len / 3 * 2, 1);
        json_decref(parsed());
        log_info(log_under_test, "X", "m; a=%.*s b:%s", (int)len, text, "[]");
        json_decref(parsed());
    }
}
END_TEST

START_TEST(console_lines)
{
    open_log(LOG_CONSOLE, LOG_DEBUG);
    log_debug(log_under_test, "CLUSTER", "started; node=%s n=%d", "d 1", 4);
    ck_assert_ptr_nonnull(strstr(written(), " debug CLUSTER: started node=\"d 1\" n=4\n"));
}
END_TEST

START_TEST(levels)
{
    enum log_level level;
    open_log(LOG_JSON, LOG_WARN);
    log_module_level(log_under_test, "cluster", LOG_DEBUG);
    log_module_level(log_under_test, "CLUSTER.NODE", LOG_ERROR);
    ck_assert(!log_wants(log_under_test, LOG_INFO, "EDGE"));
    ck_assert(log_wants(log_under_test, LOG_ERROR, "EDGE"));
    ck_assert(log_wants(log_under_test, LOG_DEBUG, "CLUSTER"));
    ck_assert(log_wants(log_under_test, LOG_DEBUG, "CLUSTER.SCHEMA"));
    ck_assert(!log_wants(log_under_test, LOG_DEBUG, "CLUSTERS"));
    ck_assert(!log_wants(log_under_test, LOG_WARN, "CLUSTER.NODE.X"));
    ck_assert(!log_wants(NULL, LOG_PANIC, "X"));
    log_info(NULL, "X", "swallowed");
    log_info(log_under_test, "EDGE", "not wanted");
    log_error(log_under_test, "EDGE", "wanted");
    ck_assert_ptr_nonnull(strstr(written(), "\"message\":\"wanted\""));
    ck_assert(log_level_read("Error", &level) && level == LOG_ERROR);
    ck_assert(log_level_read("disabled", &level) && level == LOG_DISABLED);
    ck_assert(!log_level_read("loud", &level));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log");
    TCase *tcase = tcase_create("log");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, fields_and_their_types);
    tcase_add_test(tcase, nothing_breaks_a_line);
    tcase_add_test(tcase, too_much_is_cut_and_the_line_stays_whole);
    tcase_add_test(tcase, every_length);
    tcase_add_test(tcase, console_lines);
    tcase_add_test(tcase, levels);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
