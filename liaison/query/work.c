// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/work.h"

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

bool work_check_budget(const struct work *work, struct error *err)
{
    if (work->charge->total <= work_budget(work)) {
        return true;
    }
    return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "the query holds %zu bytes of its %zu (--measure-vectorized-query-memory-mib"
                     "=%lld); ask for a narrower time range, fewer tags or fields, or a limit",
                     work->charge->total, work_budget(work),
                     (long long)work->options->measure_vectorized_query_memory_mib);
}

bool work_admit(const struct work *work, size_t declared, struct error *err)
{
    size_t budget = work_budget(work);
    if (work->charge->total + declared <= budget) {
        return true;
    }
    return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "a node's answer of %zu bytes does not fit the query's memory budget: %zu of "
                     "%zu bytes are in use; ask for a narrower time range, fewer tags, or a limit",
                     declared, work->charge->total, budget);
}
