// SPDX-License-Identifier: Apache-2.0
#include "merge/fewest.h"

static inline uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool keeps_all_rows(const struct plan *plan)
{
    return plan->mode == PLAN_ROWS && plan->key_count == 0 && !plan->index_mode;
}

void fewest_init(struct fewest *fewest, const struct plan *plan, struct arena *arena)
{
    *fewest = (struct fewest){.plan = plan};
    if (keeps_all_rows(plan)) {
        fewest->rows = arena_array(arena, uint64_t, plan->group_count);
    }
}

void fewest_add(struct fewest *fewest, size_t group, uint64_t rows)
{
    if (fewest->rows != NULL) {
        fewest->rows[group] = most(fewest->rows[group], rows);
    }
}

/* What the stages leave of so many rows. */
static uint64_t cut(const struct plan *plan, uint64_t rows)
{
    if (plan->top.number > 0) {
        rows = least(rows, (uint64_t)plan->top.number);
    }
    return least(rows > plan->offset ? rows - plan->offset : 0, plan->limit);
}

uint64_t fewest_with(const struct fewest *fewest, size_t group, uint64_t rows)
{
    if (fewest->rows == NULL) {
        return 0;
    }
    uint64_t sum = most(rows, fewest->rows[group]);
    for (size_t i = 0; i < fewest->plan->group_count; i++) {
        sum += i == group ? 0 : fewest->rows[i];
    }
    return cut(fewest->plan, sum);
}
