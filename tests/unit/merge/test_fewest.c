// SPDX-License-Identifier: Apache-2.0
/* No answer has fewer rows than were told, however the rows lie on the nodes; and one that has no
 * copies has as many. */
#include "merge/fewest.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/merge/trial.h"

static struct arena arena;
static struct trial trial;
static struct trial_row answer[TRIAL_ROWS];

static void set_up(void)
{
    arena_init(&arena, SIZE_MAX, NULL, NULL);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

static bool has_record(const struct trial_node *node, size_t count, const struct trial_row *row)
{
    for (size_t i = 0; i < count; i++) {
        const struct trial_row *other = &trial.rows[node->first + i];
        if (other->series == row->series && other->time == row->time) {
            return true;
        }
    }
    return false;
}

/* As nodes do: each record once. The rows that are left over become another time's. */
static void make_distinct(void)
{
    int64_t unused = TRIAL_ROWS;
    for (size_t i = 0; i < trial.node_count; i++) {
        const struct trial_node *node = &trial.nodes[i];
        for (size_t k = 0; k < node->count; k++) {
            struct trial_row *row = &trial.rows[node->first + k];
            row->time = has_record(node, k, row) ? unused++ : row->time;
        }
    }
}

/* What is told before each frame is there, and by the last of them. */
static uint64_t tell(struct fewest *fewest)
{
    uint64_t told = 0;
    fewest_init(fewest, &trial.plan, &arena);
    for (size_t i = 0; i < trial.node_count; i++) {
        const struct trial_node *node = &trial.nodes[i];
        const uint64_t with = fewest_with(fewest, node->group, node->count);
        fewest_add(fewest, node->group, node->count);
        ck_assert_uint_ge(with, told);
        ck_assert_uint_eq(with, fewest_with(fewest, node->group, 0));
        told = with;
    }
    return told;
}

START_TEST(no_answer_has_fewer)
{
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        struct fewest fewest;
        size_t first;
        trial_random(&trial, seed * 0x9e3779b97f4a7c15u, 1 + seed % 40);
        make_distinct();
        const uint64_t told = tell(&fewest);
        ck_assert_msg(told <= trial_answer(&trial, answer, &first), "seed %zu", (size_t)seed);
        ck_assert(!trial.plan.index_mode || told == 0);
        tear_down();
        set_up();
    }
}
END_TEST

START_TEST(one_node_of_each_group_tells_all)
{
    size_t told_any = 0;
    for (uint64_t seed = 1; seed <= 5000; seed++) {
        struct fewest fewest;
        size_t first;
        trial_random(&trial, seed * 0xc2b2ae3d27d4eb4fu, 1 + seed % 40);
        trial.plan.index_mode = false;
        if (trial.node_count > trial.plan.group_count) {
            continue;
        }
        for (size_t i = 0; i < trial.node_count; i++) {
            trial.nodes[i].group = i;
            for (size_t k = 0; k < trial.nodes[i].count; k++) {
                trial.rows[trial.nodes[i].first + k].group = i;
            }
        }
        make_distinct();
        const uint64_t told = tell(&fewest);
        ck_assert_uint_eq(told, trial_answer(&trial, answer, &first));
        told_any += told > 0;
        tear_down();
        set_up();
    }
    ck_assert_uint_gt(told_any, 100);
}
END_TEST

static uint64_t told_of(const struct plan *plan, uint64_t rows_a, uint64_t rows_b)
{
    struct fewest fewest;
    fewest_init(&fewest, plan, &arena);
    fewest_add(&fewest, 0, rows_a);
    return fewest_with(&fewest, 1, rows_b);
}

START_TEST(stages)
{
    static const struct plan_tag key;
    struct plan plan = {.group_count = 2, .limit = 4294967295};
    ck_assert_uint_eq(told_of(&plan, 600, 300), 900);
    plan.top.number = 500;
    ck_assert_uint_eq(told_of(&plan, 600, 300), 500);
    plan.offset = 450;
    ck_assert_uint_eq(told_of(&plan, 600, 300), 50);
    plan.offset = 4294967295;
    ck_assert_uint_eq(told_of(&plan, 600, 300), 0);
    plan = (struct plan){.group_count = 2, .limit = 100, .offset = 850};
    ck_assert_uint_eq(told_of(&plan, 600, 300), 50);
    plan.offset = 10;
    ck_assert_uint_eq(told_of(&plan, 600, 300), 100);
    plan.limit = plan.offset = UINT64_MAX;
    ck_assert_uint_eq(told_of(&plan, UINT32_MAX, UINT32_MAX), 0);
    plan.offset = 0;
    ck_assert_uint_eq(told_of(&plan, UINT32_MAX, UINT32_MAX), UINT64_C(8589934590));
    plan.keys = &key;
    plan.key_count = 1; /* the first row of each key */
    ck_assert_uint_eq(told_of(&plan, 600, 300), 0);
    plan.key_count = 0;
    plan.mode = PLAN_PARTIALS;
    ck_assert_uint_eq(told_of(&plan, 600, 300), 0);
    plan.mode = PLAN_FOLD;
    ck_assert_uint_eq(told_of(&plan, 600, 300), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fewest");
    TCase *tcase = tcase_create("fewest");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, no_answer_has_fewer);
    tcase_add_test(tcase, one_node_of_each_group_tells_all);
    tcase_add_test(tcase, stages);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
