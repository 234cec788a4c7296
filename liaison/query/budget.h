// SPDX-License-Identifier: Apache-2.0
/*
 * What the process may hold: one number for all threads.
 *
 *     limit  |------------------- pool, seven eighths -------------------|- reserve -|
 *                                                                          1 MiB for each query
 *
 * A query is admitted with 1 MiB of the reserve, or of the pool when there is room there. Up to
 * that it is never refused; what makes it hold more (a node's message by its declared size, the
 * region, the response) is refused when the pool would overflow. So small queries go on while big
 * ones are turned away, and all together stay below the limit.
 */
#pragma once

#include "frame/charge.h"
#include "liaison/options/options.h"
#include "liaison/query/block_pool.h"

#define BUDGET_SHARE ((size_t)1 << 20)

struct budget {
    atomic_size_t held; /* what all threads hold, and what is promised to queries from the pool */
    size_t limit;       /* SIZE_MAX: there is none */
    size_t pool;        /* the part of the limit for growth */
    size_t seats;       /* shares that the reserve has in all */
    atomic_size_t seated;
    struct block_pool blocks; /* of responses */
};

/* What a query was admitted with. */
enum budget_ticket {
    BUDGET_NONE,
    BUDGET_SEAT,    /* one of the reserve's shares */
    BUDGET_PROMISE, /* as much of the pool */
};

void budget_init(struct budget *budget, size_t limit);
void budget_fini(struct budget *budget);
/* The limit that these options mean on this machine; 0 bytes and 0 percent: SIZE_MAX. */
size_t budget_limit(const struct options *options);

/* From any thread. NONE: no query can be admitted now. */
enum budget_ticket budget_enter(struct budget *budget);
void budget_leave(struct budget *budget, enum budget_ticket ticket);

/* What an account may grow by `more`; false: the pool has no room. */
static inline bool budget_room(const struct budget *budget, struct charge *charge, size_t more)
{
    return charge_room(charge, more, budget->pool);
}
size_t budget_held(const struct budget *budget);
/* More than three quarters of the pool are taken: what is only kept for later is given back. */
bool budget_is_tight(const struct budget *budget);
