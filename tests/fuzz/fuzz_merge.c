// SPDX-License-Identifier: Apache-2.0
/*
 * Frames of any nodes into an answer, in several ways. The input draws a plan and up to four
 * frames; then they are merged
 *
 *     at once              what all others are compared with
 *     step by step         the same answer or the same refusal
 *     the last one first   the same answer; or refused, too
 *     in a small budget    the same answer, or too little memory
 *     slice by slice       FOLD: twice, at once and step by step; the same from both
 *     given up             somewhere
 *
 * The answer can be read by protobuf-c, and nothing is held in the end.
 */
#include "merge/merge.h"
#include "proto/response.h"
#include "tests/fuzz/drawn_frame.h"
#include "tests/fuzz/drawn_plan.h"
#include "tests/support/chain_bytes.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#define FRAMES_MAX 4

struct answers {
    const struct plan *plan;
    struct drawn_frame frames[FRAMES_MAX];
    size_t groups[FRAMES_MAX];
    size_t count;
};

/* How they are merged. */
struct way {
    size_t share; /* of what is taken in */
    size_t rows;  /* of a turn */
    bool last_first;
    bool sliced;   /* each frame is one of its own */
    size_t budget; /* of the region and of the answer */
    size_t calls;  /* after so many it is given up */
};

static const struct way at_once = {PROGRESS_ALL, PROGRESS_ALL, .budget = SIZE_MAX,
                                   .calls = SIZE_MAX};

struct result {
    enum merge_state state; /* MORE: given up */
    struct error err;
    size_t rows;
    struct merge_counts counts;
    uint8_t *bytes; /* own */
    size_t len;
};

struct run {
    const struct way *way;
    size_t calls;
    struct charge charge;
    struct arena arena;
    struct chain chain;
    struct response response;
    struct merge *merge; /* borrow: arena */
    struct result result;
};

static bool goes_on(struct run *run)
{
    return run->calls++ < run->way->calls;
}

/* Offers one node's answer and takes it in. MORE: it was given up. */
static enum progress take(struct run *run, const struct answers *answers, size_t i)
{
    const struct drawn_frame *frame = &answers->frames[i];
    struct msg *msg = msg_copy_of(slice_of(frame->bytes, frame->len), &run->charge);
    struct slice bytes = msg_bytes(msg);
    bytes = slice_of(bytes.ptr + frame->begin, bytes.len - frame->begin);
    merge_offer(run->merge, answers->groups[i], i, msg, bytes);
    msg_release(&msg);
    enum progress progress = PROGRESS_MORE;
    while (progress == PROGRESS_MORE && goes_on(run)) {
        size_t left = run->way->share;
        progress = merge_take(run->merge, &left, &run->result.err);
    }
    const bool partials = answers->plan->mode == PLAN_PARTIALS;
    assert(progress == PROGRESS_MORE || !partials || run->charge.count[CHARGE_MESSAGE] == 0);
    return progress;
}

static enum merge_state turn(struct run *run)
{
    enum merge_state state = MERGE_MORE;
    while (state == MERGE_MORE && goes_on(run)) {
        state = merge_run(run->merge, &run->response.sink, run->way->rows, &run->result.err);
    }
    assert(state != MERGE_FED || run->charge.count[CHARGE_MESSAGE] == 0);
    return state;
}

/* MORE: it was given up. */
static enum merge_state merge(struct run *run, const struct answers *answers)
{
    for (size_t n = 0; n < answers->count; n++) {
        const size_t i = run->way->last_first ? answers->count - 1 - n : n;
        const enum progress progress = take(run, answers, i);
        if (progress != PROGRESS_DONE) {
            return progress == PROGRESS_FAILED ? MERGE_FAILED : MERGE_MORE;
        }
        if (run->way->sliced && n + 1 < answers->count) {
            merge_expect(run->merge, true);
            const enum merge_state state = turn(run);
            if (state != MERGE_FED) {
                return state;
            }
        }
    }
    merge_expect(run->merge, false);
    return turn(run);
}

static void read_back(const struct result *result)
{
    Banyandb__Measure__V1__QueryResponse *message =
        banyandb__measure__v1__query_response__unpack(NULL, result->len, result->bytes);
    assert(message != NULL && message->n_data_points == result->rows);
    banyandb__measure__v1__query_response__free_unpacked(message, NULL);
}

static void keep_answer(struct run *run)
{
    struct result *result = &run->result;
    result->rows = run->response.rows;
    result->counts = merge_count(run->merge);
    result->bytes = chain_bytes(&run->chain, &result->len);
    read_back(result);
}

static struct result run(const struct answers *answers, const struct way *way)
{
    struct run run = {.way = way};
    arena_init(&run.arena, way->budget, NULL, &run.charge);
    chain_init(&run.chain, &run.charge);
    response_init(&run.response, &run.chain, way->budget, &run.arena);
    run.merge = merge_open(answers->plan, DECODE_V3 | DECODE_V4, &run.arena);
    run.result.state = merge(&run, answers);
    if (run.result.state == MERGE_DONE) {
        keep_answer(&run);
    } else if (run.result.state == MERGE_FAILED) {
        assert(run.result.err.code != ERROR_NONE && run.result.err.text[0] != '\0');
    }
    merge_close(&run.merge);
    arena_fini(&run.arena);
    chain_fini(&run.chain);
    for (size_t kind = 0; kind < CHARGE_KINDS; kind++) {
        assert(run.charge.count[kind] == 0 && run.charge.bytes[kind] == 0);
    }
    return run.result;
}

static bool is_same_answer(const struct result *a, const struct result *b)
{
    return a->rows == b->rows &&
           slice_equal(slice_of(a->bytes, a->len), slice_of(b->bytes, b->len));
}

static bool is_same(const struct result *a, const struct result *b)
{
    if (a->state != b->state) {
        return false;
    }
    if (a->state == MERGE_FAILED) {
        return a->err.code == b->err.code && strcmp(a->err.text, b->err.text) == 0;
    }
    return is_same_answer(a, b) && a->counts.merged == b->counts.merged &&
           a->counts.ranked == b->counts.ranked && a->counts.cut == b->counts.cut;
}

static void compare_steps(const struct answers *answers, const struct result *whole,
                          const struct way *way)
{
    const struct result result = run(answers, way);
    assert(is_same(whole, &result));
    free(result.bytes);
}

/* A cell of partials that an earlier node's rows make needless is not looked at when these came
 * first. */
static bool is_needless_cell(const struct answers *answers, const struct result *a,
                             const struct result *b)
{
    const struct error *err = a->state == MERGE_FAILED ? &a->err : &b->err;
    return answers->plan->mode == PLAN_PARTIALS && strstr(err->text, "not a well-formed") != NULL;
}

static void compare_orders(const struct answers *answers, const struct result *whole,
                           struct way way)
{
    way.last_first = true;
    const struct result result = run(answers, &way);
    assert(result.state == whole->state || is_needless_cell(answers, whole, &result));
    assert(whole->state != MERGE_DONE || result.state != MERGE_DONE ||
           is_same_answer(&result, whole));
    free(result.bytes);
}

static void compare_budgets(const struct answers *answers, const struct result *whole,
                            struct way way, size_t budget)
{
    way.budget = budget;
    const struct result result = run(answers, &way);
    if (result.state == MERGE_DONE) {
        assert(whole->state == MERGE_DONE && is_same_answer(&result, whole));
    } else {
        assert(result.err.code == ERROR_RESOURCE_EXHAUSTED || whole->state == MERGE_FAILED);
    }
    free(result.bytes);
}

static void compare_slices(const struct answers *answers, struct way way)
{
    struct way sliced = at_once;
    sliced.sliced = true;
    way.sliced = true;
    const struct result whole = run(answers, &sliced);
    compare_steps(answers, &whole, &way);
    free(whole.bytes);
}

static void give_up(const struct answers *answers, struct way way, size_t calls)
{
    way.calls = calls;
    way.sliced = answers->plan->mode == PLAN_FOLD && calls % 2 == 0;
    const struct result result = run(answers, &way);
    free(result.bytes);
}

static void try_ways(const struct answers *answers, struct draw *draw)
{
    struct way steps = at_once;
    steps.share = draw_once_in(draw, 4) ? 1 : 1 + 4 * draw_below(draw, 256);
    steps.rows = draw_once_in(draw, 4) ? 1 : 1 + 2 * draw_below(draw, 256);
    const struct result whole = run(answers, &at_once);
    compare_steps(answers, &whole, &steps);
    compare_orders(answers, &whole, steps);
    compare_budgets(answers, &whole, steps, (size_t)8192 << draw_below(draw, 6));
    if (answers->plan->mode == PLAN_FOLD) {
        compare_slices(answers, steps);
    }
    give_up(answers, steps, draw_byte(draw));
    free(whole.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct draw draw = draw_begin(slice_of(bytes, len));
    struct drawn_plan drawn;
    drawn_plan(&drawn, &draw);
    struct answers answers = {.plan = &drawn.plan, .count = draw_below(&draw, FRAMES_MAX + 1)};
    for (size_t i = 0; i < answers.count; i++) {
        answers.groups[i] = draw_below(&draw, drawn.plan.group_count);
        answers.frames[i] = drawn_frame(&draw, drawn.plan.mode == PLAN_PARTIALS);
    }
    try_ways(&answers, &draw);
    for (size_t i = 0; i < answers.count; i++) {
        free(answers.frames[i].bytes);
    }
    return 0;
}
