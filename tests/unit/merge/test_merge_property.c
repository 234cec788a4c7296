// SPDX-License-Identifier: Apache-2.0
/*
 * Merges of random trials against the model. The order of arrival and the size of the steps are
 * random too, so they cannot matter.
 */
#include "frame/charge.h"
#include "frame/decode.h"
#include "merge/merge.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/merge/frames.h"
#include "tests/unit/merge/trial.h"

struct checker {
    struct sink sink;
    const struct trial_row *rows;
    size_t count;
    size_t at;
    uint64_t seed;
};

static bool checker_begin(struct sink *sink, const struct layout *given, struct error *err)
{
    (void)sink;
    (void)given;
    (void)err;
    return true;
}

static bool checker_row(struct sink *sink, const struct row *row, struct error *err)
{
    (void)err;
    struct checker *checker = (struct checker *)sink;
    ck_assert_msg(checker->at < checker->count, "seed %zu: a row too many", (size_t)checker->seed);
    const struct trial_row *wanted = &checker->rows[checker->at++];
    const struct cell *tag = &row->cells[0];
    ck_assert_msg(row->cells[1].kind == CELL_INT && row->cells[1].number.i == wanted->id,
                  "seed %zu: row %zu is not number %zu", (size_t)checker->seed, checker->at - 1,
                  (size_t)wanted->id);
    ck_assert(row->group == wanted->group && row->timestamp == wanted->time &&
              row->version == wanted->version && row->series == wanted->series);
    ck_assert(tag->kind == (wanted->kind == TRIAL_NULL   ? CELL_NULL
                            : wanted->kind == TRIAL_TEXT ? CELL_STRING
                                                         : CELL_INT));
    ck_assert(tag->kind != CELL_STRING || slice_equal(tag->bytes, slice_str(wanted->text)));
    ck_assert(tag->kind != CELL_INT || tag->number.i == wanted->number);
    return true;
}

static void merge_and_check(struct trial *trial, struct checker *checker)
{
    struct arena arena;
    struct error err = {0};
    size_t turns[TRIAL_NODES];
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct merge *merge = merge_open(&trial->plan, DECODE_V3 | DECODE_V4, &arena);
    for (size_t i = 0; i < trial->node_count; i++) {
        size_t k = random_below(&trial->state, i + 1);
        turns[i] = turns[k];
        turns[k] = i;
    }
    for (size_t i = 0; i < trial->node_count; i++) {
        const struct trial_node *node = &trial->nodes[turns[i]];
        struct msg *msg = trial_frame(trial, node);
        size_t share = 1 + random_below(&trial->state, 200);
        ck_assert_msg(frames_take(merge, node->group, node->rank, msg, share, &err), "%s",
                      err.text);
        msg_release(&msg);
    }
    size_t step = 1 + random_below(&trial->state, 50);
    enum merge_state state;
    do {
        state = merge_run(merge, &checker->sink, step, &err);
    } while (state == MERGE_MORE);
    ck_assert_msg(state == MERGE_DONE, "%s", err.text);
    ck_assert_uint_eq(checker->at, checker->count);
    merge_close(&merge);
    arena_fini(&arena);
}

static void try_seed(uint64_t seed, size_t most)
{
    static struct trial trial;
    static struct trial_row rows[TRIAL_ROWS];
    size_t first;
    trial_random(&trial, seed, most);
    size_t count = trial_answer(&trial, rows, &first);
    for (int round = 0; round < 2; round++) { /* another order of arrival, another step */
        struct checker checker = {
            {checker_begin, checker_row}, rows + first, count, 0, seed,
        };
        merge_and_check(&trial, &checker);
    }
}

START_TEST(small_merges_are_sort_and_dedupe)
{
    for (uint64_t seed = 1; seed <= 6000; seed++) {
        try_seed(seed * 0x9e3779b97f4a7c15u, 1 + seed % 40);
    }
}
END_TEST

START_TEST(large_merges_are_sort_and_dedupe)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        try_seed(seed * 0xc2b2ae3d27d4eb4fu, 2000);
    }
}
END_TEST

/* A few bytes of each frame are others. Whatever the merge makes of it, it reads nothing that is
 * not there (a sanitizer sees to that) and holds nothing in the end. */
static void merge_mutated(struct trial *trial, struct checker *ignoring)
{
    struct charge charge = {0};
    struct arena arena;
    struct error err = {0};
    arena_init(&arena, (size_t)1 << 20, NULL, &charge);
    struct merge *merge = merge_open(&trial->plan, DECODE_V3 | DECODE_V4, &arena);
    bool fed = true;
    for (size_t i = 0; i < trial->node_count && fed; i++) {
        const struct trial_node *node = &trial->nodes[i];
        struct msg *frame = trial_frame(trial, node);
        struct slice bytes = msg_bytes(frame);
        struct msg *msg = msg_new(bytes.len, &charge);
        size_t changed = bytes.len - 1 - random_below(&trial->state, bytes.len);
        uint8_t byte = (uint8_t)random_next(&trial->state);
        msg_append(msg, slice_of(bytes.ptr, changed));
        msg_append(msg, slice_of(&byte, 1));
        msg_append(msg, slice_of(bytes.ptr + changed + 1, bytes.len - changed - 1));
        fed = merge_feed(merge, node->group, node->rank, msg, msg_bytes(msg), &err);
        msg_release(&msg);
        msg_release(&frame);
    }
    while (fed && merge_run(merge, &ignoring->sink, 1000, &err) == MERGE_MORE) {
    }
    merge_close(&merge);
    arena_fini(&arena);
    ck_assert_uint_eq(charge.total, 0);
    ck_assert_uint_eq(charge.count[CHARGE_MESSAGE], 0);
}

static bool ignored_row(struct sink *sink, const struct row *row, struct error *err)
{
    (void)sink;
    (void)err;
    return row != NULL;
}

START_TEST(frames_with_changed_bytes_do_no_harm)
{
    static struct trial trial;
    struct checker ignoring = {.sink = {checker_begin, ignored_row}};
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        trial_random(&trial, seed * 0xd6e8feb86659fd93u, 1 + seed % 10);
        merge_mutated(&trial, &ignoring);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge_property");
    TCase *tcase = tcase_create("merge_property");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, small_merges_are_sort_and_dedupe);
    tcase_add_test(tcase, large_merges_are_sort_and_dedupe);
    tcase_add_test(tcase, frames_with_changed_bytes_do_no_harm);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
