// SPDX-License-Identifier: Apache-2.0
#include "liaison/machine.h"
#include "liaison/query/budget.h"
#include "tests/unit/frame/unit.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static struct budget budget;

START_TEST(each_query_has_its_share)
{
    budget_init(&budget, 16 * MIB); /* a reserve of 2 and a pool of 14 */
    ck_assert_int_eq(budget_enter(&budget), BUDGET_SEAT);
    ck_assert_int_eq(budget_enter(&budget), BUDGET_SEAT);
    for (int i = 0; i < 14; i++) {
        ck_assert_int_eq(budget_enter(&budget), BUDGET_PROMISE);
    }
    ck_assert_int_eq(budget_enter(&budget), BUDGET_NONE);
    budget_leave(&budget, BUDGET_NONE);
    budget_leave(&budget, BUDGET_SEAT);
    ck_assert_int_eq(budget_enter(&budget), BUDGET_SEAT);
    budget_leave(&budget, BUDGET_PROMISE);
    ck_assert_int_eq(budget_enter(&budget), BUDGET_PROMISE);
}
END_TEST

/* Whoever fills the pool leaves the reserve to small queries. */
START_TEST(growth_leaves_the_reserve_alone)
{
    budget_init(&budget, 16 * MIB);
    struct charge big = {.shared = &budget.held};
    ck_assert(budget_room(&budget, &big, 14 * MIB));
    charge_add(&big, CHARGE_MESSAGE, 14 * MIB);
    ck_assert(!budget_room(&budget, &big, CHARGE_STEP));
    ck_assert(budget_is_tight(&budget));
    ck_assert_int_eq(budget_enter(&budget), BUDGET_SEAT);
    ck_assert_int_eq(budget_enter(&budget), BUDGET_SEAT);
    ck_assert_int_eq(budget_enter(&budget), BUDGET_NONE);
    charge_drop(&big, CHARGE_MESSAGE, 14 * MIB);
    ck_assert_uint_eq(budget_held(&budget), 0);
    ck_assert(!budget_is_tight(&budget));
}
END_TEST

START_TEST(no_limit_refuses_nothing)
{
    budget_init(&budget, SIZE_MAX);
    struct charge big = {.shared = &budget.held};
    ck_assert(budget_room(&budget, &big, SIZE_MAX / 4));
    ck_assert_int_ne(budget_enter(&budget), BUDGET_NONE);
}
END_TEST

START_TEST(the_options_say_how_much)
{
    struct options options = {.allowed_bytes = 5000, .allowed_percent = 75};
    ck_assert_uint_eq(budget_limit(&options), 5000);
    options.allowed_bytes = 0;
    const size_t most = budget_limit(&options);
    ck_assert_uint_gt(most, 0);
    ck_assert_uint_le(most, machine_memory() / 4 * 3);
    options.allowed_percent = 0;
    ck_assert_uint_eq(budget_limit(&options), SIZE_MAX);
}
END_TEST

static void write_file(const char *root, const char *name, const char *text)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(control_groups_bind)
{
    char root[] = "/tmp/test_budget_XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_uint_eq(machine_group_limit(root, 1000), 1000); /* no such files */
    write_file(root, "proc/self/cgroup", "1:name=systemd:/x\n0::/a/b\n");
    write_file(root, "sys/fs/cgroup/a/b/memory.max", "max\n");
    ck_assert_uint_eq(machine_group_limit(root, 1000), 1000);
    write_file(root, "sys/fs/cgroup/a/memory.max", "700\n"); /* of the group around it */
    ck_assert_uint_eq(machine_group_limit(root, 1000), 700);
    write_file(root, "sys/fs/cgroup/a/b/memory.max", "600\n");
    ck_assert_uint_eq(machine_group_limit(root, 1000), 600);
    write_file(root, "sys/fs/cgroup/memory.max", "500\n"); /* a container's own */
    ck_assert_uint_eq(machine_group_limit(root, 1000), 500);
    ck_assert_uint_eq(machine_group_limit(root, 400), 400);
    write_file(root, "proc/self/cgroup", "0::/\n");
    ck_assert_uint_eq(machine_group_limit(root, 1000), 500);
    char command[64];
    (void)snprintf(command, sizeof command, "rm -r %s", root);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(control_groups_bind_cores)
{
    char root[] = "/tmp/test_budget_XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_uint_eq(machine_group_cores(root, 8), 8); /* no such files */
    write_file(root, "proc/self/cgroup", "0::/a/b\n");
    write_file(root, "sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    ck_assert_uint_eq(machine_group_cores(root, 8), 8);
    write_file(root, "sys/fs/cgroup/a/cpu.max", "400000 100000\n"); /* of the group around it */
    ck_assert_uint_eq(machine_group_cores(root, 8), 4);
    write_file(root, "sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
    ck_assert_uint_eq(machine_group_cores(root, 8), 2);
    ck_assert_uint_eq(machine_group_cores(root, 1), 1);
    write_file(root, "sys/fs/cgroup/a/b/cpu.max", "1000 100000\n");
    ck_assert_uint_eq(machine_group_cores(root, 8), 1);
    write_file(root, "sys/fs/cgroup/a/b/cpu.max", "0 0\n"); /* no kernel says so */
    ck_assert_uint_eq(machine_group_cores(root, 8), 1);
    char command[64];
    (void)snprintf(command, sizeof command, "rm -r %s", root);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(cores_are_those_allowed)
{
    cpu_set_t all;
    cpu_set_t one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    ck_assert_uint_eq(machine_cores(), CPU_COUNT(&all));
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_uint_eq(machine_cores(), 1);
    ck_assert_int_eq(sched_setaffinity(0, sizeof all, &all), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("budget");
    TCase *tcase = tcase_create("budget");
    tcase_add_test(tcase, each_query_has_its_share);
    tcase_add_test(tcase, growth_leaves_the_reserve_alone);
    tcase_add_test(tcase, no_limit_refuses_nothing);
    tcase_add_test(tcase, the_options_say_how_much);
    tcase_add_test(tcase, control_groups_bind);
    tcase_add_test(tcase, control_groups_bind_cores);
    tcase_add_test(tcase, cores_are_those_allowed);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
