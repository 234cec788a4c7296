// SPDX-License-Identifier: Apache-2.0
/* A watched file is written, replaced, and reached through another link; strangers are ignored. */
#include "liaison/cluster/file_watch.h"
#include "tests/unit/frame/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_MS 10000
#define QUIET_MS    600

static char folder[64];
static struct loop *loop;
static unsigned changes;
static struct loop_timer patience;
static bool over; /* what comes in the same turn, on a busy machine, comes too late */

static const char *in_folder(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *out = fopen(in_folder(name), "w");
    ck_assert_ptr_nonnull(out);
    (void)fputs(text, out);
    (void)fclose(out);
}

static void on_change(void *owner)
{
    (void)owner;
    changes += over ? 0 : 1;
    loop_stop(loop);
}

static void run_patience(struct loop_timer *timer)
{
    (void)timer;
    over = true;
    loop_stop(loop);
}

/* Whether a change is told within this time. */
static bool told(uint64_t within_ms)
{
    const unsigned before = changes;
    over = false;
    loop_timer_start(&patience, within_ms);
    loop_run(loop);
    loop_timer_stop(&patience);
    return changes != before;
}

static void setup(void)
{
    strcpy(folder, "/tmp/bydb-watch-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    loop = loop_new("");
    loop_timer_init(&patience, loop, run_patience);
    changes = 0;
}

static void teardown(void)
{
    char command[128];
    loop_timer_fini(&patience);
    loop_free(&loop);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(written_and_replaced)
{
    put("nodes.yaml", "a");
    struct file_watch *watch = file_watch_open(loop, in_folder("nodes.yaml"), on_change, NULL);
    ck_assert(!told(QUIET_MS));
    put("nodes.yaml", "ab");
    ck_assert(told(PATIENCE_MS));
    put("other", "abc");
    ck_assert_int_eq(rename(in_folder("other"), in_folder("nodes.yaml")), 0);
    ck_assert(told(PATIENCE_MS));
    put("stranger", "x");
    ck_assert(!told(QUIET_MS));
    ck_assert_int_eq(unlink(in_folder("nodes.yaml")), 0);
    ck_assert(told(PATIENCE_MS));
    put("nodes.yaml", "again");
    ck_assert(told(PATIENCE_MS));
    file_watch_close(&watch);
    ck_assert_ptr_null(watch);
}
END_TEST

/* As orchestrators do it: nodes.yaml → ..data/nodes.yaml, ..data → a folder, swapped by rename. */
START_TEST(reached_through_another_link)
{
    ck_assert_int_eq(mkdir(in_folder("v1"), 0700), 0);
    ck_assert_int_eq(mkdir(in_folder("v2"), 0700), 0);
    put("v1/nodes.yaml", "one");
    put("v2/nodes.yaml", "two");
    ck_assert_int_eq(symlink("v1", in_folder("..data")), 0);
    ck_assert_int_eq(symlink("..data/nodes.yaml", in_folder("nodes.yaml")), 0);
    struct file_watch *watch = file_watch_open(loop, in_folder("nodes.yaml"), on_change, NULL);
    ck_assert(!told(QUIET_MS));
    ck_assert_int_eq(symlink("v2", in_folder("..tmp")), 0);
    ck_assert_int_eq(rename(in_folder("..tmp"), in_folder("..data")), 0);
    ck_assert(told(PATIENCE_MS));
    file_watch_close(&watch);
}
END_TEST

/* A writer that cuts the file first and is slow to fill it again. */
START_TEST(cut_and_then_written)
{
    put("nodes.yaml", "a");
    struct file_watch *watch = file_watch_open(loop, in_folder("nodes.yaml"), on_change, NULL);
    ck_assert(!told(QUIET_MS));
    put("nodes.yaml", "");
    ck_assert(!told(250));
    put("nodes.yaml", "ab");
    ck_assert(told(PATIENCE_MS));
    ck_assert(!told(QUIET_MS));
    put("nodes.yaml", ""); /* and one that means it */
    ck_assert(told(PATIENCE_MS));
    file_watch_close(&watch);
}
END_TEST

/* With no inotify left, it is looked at now and then. */
START_TEST(without_inotify)
{
    struct rlimit before;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    put("nodes.yaml", "a");
    loop_timer_start(&patience, 0); /* makes what it needs before the limit is lowered */
    loop_run(loop);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    struct file_watch *watch = file_watch_open(loop, in_folder("nodes.yaml"), on_change, NULL);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    put("nodes.yaml", "ab");
    ck_assert(told(PATIENCE_MS));
    file_watch_close(&watch);
}
END_TEST

START_TEST(a_folder_that_comes_late)
{
    struct file_watch *watch =
        file_watch_open(loop, in_folder("later/nodes.yaml"), on_change, NULL);
    ck_assert(!told(QUIET_MS));
    ck_assert_int_eq(mkdir(in_folder("later"), 0700), 0);
    put("later/nodes.yaml", "a");
    ck_assert(told(PATIENCE_MS));
    file_watch_close(&watch);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("file_watch");
    TCase *tcase = tcase_create("file_watch");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, written_and_replaced);
    tcase_add_test(tcase, reached_through_another_link);
    tcase_add_test(tcase, cut_and_then_written);
    tcase_add_test(tcase, a_folder_that_comes_late);
    tcase_add_test(tcase, without_inotify);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
