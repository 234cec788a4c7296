// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/work.h"

#include "frame/spent.h"
#include "liaison/query/rounds.h"

#include <stdio.h>

#define HEADROOM 16 /* one in so many of a query's memory */

struct work *work_new(const struct work_ops *ops, struct arena *arena)
{
    struct work *work = arena_zalloc(arena, ops->size, _Alignof(max_align_t));
    work->ops = ops;
    work->arena = arena;
    return work;
}

size_t work_budget(const struct work *work)
{
    return (size_t)work->options->measure_vectorized_query_memory_mib << 20;
}

size_t work_held(const struct work *work)
{
    return work->charge->total + work->promised - rounds_hold_ahead(work->rounds);
}

/* A share is always there. */
static bool fits_process(const struct work *work, size_t more)
{
    const struct budget *budget = executor_setup(work->executor)->budget;
    return work->charge->total + more <= BUDGET_SHARE || budget_room(budget, work->charge, more);
}

/* Gives back one thing. False: there is none. */
static bool make_room(const struct work *work)
{
    struct spent *spent = executor_charge(work->executor)->spent;
    if (spent->first != NULL) {
        spent_give_back(spent);
        return true;
    }
    return rounds_give_way(work->rounds);
}

/* The process has room for what the query holds and `more`: what is kept for later queries, and
 * what came before its turn, is given back before this one is refused. */
static bool process_has_room(const struct work *work, size_t more)
{
    if (fits_process(work, more)) {
        return true;
    }
    arena_cache_fini(executor_cache(work->executor));
    block_pool_drain(&executor_setup(work->executor)->budget->blocks);
    while (!fits_process(work, more)) {
        if (!make_room(work)) {
            return false;
        }
    }
    return true;
}

/* What is ahead gives way while something is still free: between two looks at the budget the front
 * takes some. */
static size_t headroom(const struct work *work)
{
    return work_budget(work) / HEADROOM;
}

/* The query has room for `more` to the front, as if nothing was ahead. */
static bool query_has_room(const struct work *work, size_t more)
{
    if (work_held(work) + more > work->limit) {
        return false;
    }
    while (work->charge->total + work->promised + more + headroom(work) > work_budget(work) &&
           rounds_give_way(work->rounds)) {
    }
    return true;
}

bool work_keep_trace(struct work *work, size_t size)
{
    if (!query_has_room(work, 2 * size) || !process_has_room(work, 2 * size)) {
        return false;
    }
    work->promised += size;
    return true;
}

static bool refuse_crowded(struct work *work, size_t more, struct error *err)
{
    const struct budget *budget = executor_setup(work->executor)->budget;
    char wanted[64] = ""; /* it may hold too much already */
    work->crowded = true;
    if (more > 0) {
        (void)snprintf(wanted, sizeof wanted, ", and %zu more do not fit", more);
    }
    return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "all queries together hold %zu of the %zu bytes that the liaison may "
                     "(--allowed-bytes, --allowed-percent), this one %zu%s; try again in a second, "
                     "or ask for a narrower time range, fewer tags, or a limit",
                     budget_held(budget), budget->limit, work->charge->total, wanted);
}

bool work_check_budget(struct work *work, struct error *err)
{
    if (query_has_room(work, 0)) {
        return process_has_room(work, 0) || refuse_crowded(work, 0, err);
    }
    return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "the query holds %zu bytes of its memory budget of %zu "
                     "(--measure-vectorized-query-memory-mib"
                     "=%lld); ask for a narrower time range, fewer tags or fields, or a limit",
                     work_held(work), work->limit,
                     (long long)work->options->measure_vectorized_query_memory_mib);
}

static bool refuse_large(const struct work *work, const struct fanout_source *source,
                         size_t declared, struct error *err)
{
    return error_set(
        err, ERROR_RESOURCE_EXHAUSTED,
        "the answer of node %s, %zu bytes, does not fit the query's memory budget: %zu of %zu "
        "bytes are in use; ask for a narrower time range, fewer tags, or a limit",
        source->name, declared, work_held(work), work->limit);
}

static bool refuse_long(const struct work *work, const struct fanout_source *source,
                        size_t declared, struct error *err)
{
    return error_set(
        err, ERROR_RESOURCE_EXHAUSTED,
        "the answer of node %s, %zu bytes, comes to %zu that others have sent, %zu are the most to "
        "one question (--aggregation-slice-size)",
        source->name, declared, work->front->intake.bytes, work->front->intake.most_bytes);
}

static bool is_long(const struct round_intake *intake, size_t declared)
{
    return intake->most_bytes > 0 && intake->bytes + declared > intake->most_bytes;
}

static void take_in(struct round_intake *intake, size_t declared)
{
    intake->messages++;
    intake->bytes += declared;
}

static bool admits(struct work *work, const struct fanout_source *source, size_t declared,
                   struct error *err)
{
    if (!query_has_room(work, declared)) {
        return refuse_large(work, source, declared, err);
    }
    if (is_long(&work->front->intake, declared)) {
        return refuse_long(work, source, declared, err);
    }
    return process_has_room(work, declared) || refuse_crowded(work, declared, err);
}

bool work_admit(struct work *work, const struct fanout_source *source, size_t declared,
                struct error *err)
{
    struct round_intake *intake = &work->front->intake;
    if (!admits(work, source, declared, err)) {
        intake->refused = declared;
        return false;
    }
    take_in(intake, declared);
    return true;
}

static bool has_spare(const struct work *work, size_t declared)
{
    return rounds_hold_ahead(work->rounds) + declared <= work->spare &&
           work->charge->total + work->promised + declared + headroom(work) <= work_budget(work);
}

bool work_admit_ahead(struct work *work, struct round *round, size_t declared)
{
    const struct budget *budget = executor_setup(work->executor)->budget;
    if (is_long(&round->intake, declared) || budget_is_tight(budget)) {
        return false;
    }
    bool fits = has_spare(work, declared);
    while (!fits && rounds_give_way_to(work->rounds, round)) {
        fits = has_spare(work, declared);
    }
    if (!fits || !fits_process(work, declared)) {
        return false;
    }
    take_in(&round->intake, declared);
    return true;
}
