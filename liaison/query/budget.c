// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/budget.h"

#include "liaison/machine.h"

#include <assert.h>

/* Blocks of responses that are kept for the next ones. */
#define KEPT_MAX  ((size_t)32 << 20)
#define KEPT_PART 16

void budget_init(struct budget *budget, size_t limit)
{
    const size_t reserve = limit / 8;
    budget->limit = limit;
    budget->pool = limit == SIZE_MAX ? SIZE_MAX : limit - reserve;
    budget->seats = reserve / BUDGET_SHARE;
    atomic_init(&budget->held, 0);
    atomic_init(&budget->seated, 0);
    const size_t kept = limit / KEPT_PART < KEPT_MAX ? limit / KEPT_PART : KEPT_MAX;
    block_pool_init(&budget->blocks, kept, &budget->held);
}

void budget_fini(struct budget *budget)
{
    block_pool_fini(&budget->blocks);
}

size_t budget_limit(const struct options *options)
{
    if (options->allowed_bytes > 0) {
        return (size_t)options->allowed_bytes;
    }
    const size_t memory = machine_group_limit("", machine_memory());
    const size_t percent = (size_t)options->allowed_percent;
    return percent == 0 || memory == 0 ? SIZE_MAX : memory / 100 * percent;
}

static bool take_seat(struct budget *budget)
{
    if (atomic_fetch_add_explicit(&budget->seated, 1, memory_order_relaxed) < budget->seats) {
        return true;
    }
    atomic_fetch_sub_explicit(&budget->seated, 1, memory_order_relaxed);
    return false;
}

enum budget_ticket budget_enter(struct budget *budget)
{
    if (take_seat(budget)) {
        return BUDGET_SEAT;
    }
    const size_t before =
        atomic_fetch_add_explicit(&budget->held, BUDGET_SHARE, memory_order_relaxed);
    if (before < budget->pool && budget->pool - before >= BUDGET_SHARE) {
        return BUDGET_PROMISE;
    }
    atomic_fetch_sub_explicit(&budget->held, BUDGET_SHARE, memory_order_relaxed);
    return BUDGET_NONE;
}

void budget_leave(struct budget *budget, enum budget_ticket ticket)
{
    switch (ticket) {
    case BUDGET_NONE:
        break;
    case BUDGET_SEAT:
        assert(atomic_load_explicit(&budget->seated, memory_order_relaxed) > 0);
        atomic_fetch_sub_explicit(&budget->seated, 1, memory_order_relaxed);
        break;
    case BUDGET_PROMISE:
        atomic_fetch_sub_explicit(&budget->held, BUDGET_SHARE, memory_order_relaxed);
        break;
    }
}

size_t budget_held(const struct budget *budget)
{
    return atomic_load_explicit(&budget->held, memory_order_relaxed);
}

bool budget_is_tight(const struct budget *budget)
{
    return budget_held(budget) > budget->pool / 4 * 3;
}
