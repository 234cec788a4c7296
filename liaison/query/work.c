// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/work.h"

#include "frame/spent.h"
#include "liaison/query/round.h"

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

/* The process has room for what the query holds and `more`: a share is always there, and what is
 * kept for later queries is given back before this one is refused. */
static bool process_has_room(const struct work *work, size_t more)
{
    const struct budget *budget = executor_setup(work->executor)->budget;
    if (work->charge->total + more <= BUDGET_SHARE || budget_room(budget, work->charge, more)) {
        return true;
    }
    arena_cache_fini(executor_cache(work->executor));
    block_pool_drain(&executor_setup(work->executor)->budget->blocks);
    struct spent *spent = executor_charge(work->executor)->spent;
    while (!budget_room(budget, work->charge, more)) {
        if (spent->first == NULL) {
            return false;
        }
        spent_give_back(spent);
    }
    return true;
}

static bool refuse_crowded(struct work *work, size_t more, struct error *err)
{
    const struct budget *budget = executor_setup(work->executor)->budget;
    work->crowded = true;
    return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "all queries together hold %zu of the %zu bytes that the liaison may "
                     "(--allowed-bytes, --allowed-percent), this one %zu, and %zu more do not fit; "
                     "try again in a second, or ask for a narrower time range, fewer tags, or a "
                     "limit",
                     budget_held(budget), budget->limit, work->charge->total, more);
}

bool work_check_budget(struct work *work, struct error *err)
{
    if (work->charge->total <= work->limit) {
        return process_has_room(work, 0) || refuse_crowded(work, 0, err);
    }
    return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "the query holds %zu bytes of its memory budget of %zu "
                     "(--measure-vectorized-query-memory-mib"
                     "=%lld); ask for a narrower time range, fewer tags or fields, or a limit",
                     work->charge->total, work->limit,
                     (long long)work->options->measure_vectorized_query_memory_mib);
}

static bool refuse_large(const struct work *work, const struct fanout_source *source,
                         size_t declared, struct error *err)
{
    return error_set(
        err, ERROR_RESOURCE_EXHAUSTED,
        "the answer of node %s, %zu bytes, does not fit the query's memory budget: %zu of %zu "
        "bytes are in use; ask for a narrower time range, fewer tags, or a limit",
        source->name, declared, work->charge->total, work->limit);
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

static bool admits(struct work *work, const struct fanout_source *source, size_t declared,
                   struct error *err)
{
    if (work->charge->total + declared > work->limit) {
        return refuse_large(work, source, declared, err);
    }
    const struct intake *intake = &work->front->intake;
    if (intake->most_bytes > 0 && intake->bytes + declared > intake->most_bytes) {
        return refuse_long(work, source, declared, err);
    }
    return process_has_room(work, declared) || refuse_crowded(work, declared, err);
}

bool work_admit(struct work *work, const struct fanout_source *source, size_t declared,
                struct error *err)
{
    struct intake *intake = &work->front->intake;
    if (!admits(work, source, declared, err)) {
        intake->refused = declared;
        return false;
    }
    intake->messages++;
    intake->bytes += declared;
    return true;
}
