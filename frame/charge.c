// SPDX-License-Identifier: Apache-2.0
/* Every change is made here and in all parents, so that a parent is the sum of its children. */
#include "frame/charge.h"

#include <assert.h>

/* Wraps around when there is less to tell than before, and so does the sum. */
static void tell(struct charge *charge, size_t told)
{
    atomic_fetch_add_explicit(charge->shared, told - charge->told, memory_order_relaxed);
    charge->told = told;
}

/* Tells the whole steps that hold the total; a little less than before is not worth telling. */
static void tell_if_due(struct charge *charge)
{
    const bool exact = charge->told >= charge->total &&
                       charge->told - charge->total < 2 * CHARGE_STEP && charge->total > 0;
    if (charge->shared != NULL && !exact) {
        tell(charge, (charge->total + CHARGE_STEP - 1) / CHARGE_STEP * CHARGE_STEP);
    }
}

static void grow(struct charge *charge, enum charge_kind kind, size_t bytes)
{
    charge->bytes[kind] += bytes;
    charge->total += bytes;
    if (charge->total > charge->peak) {
        charge->peak = charge->total;
    }
    tell_if_due(charge);
}

static void shrink(struct charge *charge, enum charge_kind kind, size_t bytes)
{
    assert(charge->bytes[kind] >= bytes);
    charge->bytes[kind] -= bytes;
    charge->total -= bytes;
    tell_if_due(charge);
}

void charge_add(struct charge *charge, enum charge_kind kind, size_t bytes)
{
    for (; charge != NULL; charge = charge->parent) {
        charge->count[kind]++;
        grow(charge, kind, bytes);
    }
}

void charge_resize(struct charge *charge, enum charge_kind kind, size_t from, size_t to)
{
    for (; charge != NULL; charge = charge->parent) {
        assert(charge->count[kind] > 0);
        if (to >= from) {
            grow(charge, kind, to - from);
        } else {
            shrink(charge, kind, from - to);
        }
    }
}

void charge_drop(struct charge *charge, enum charge_kind kind, size_t bytes)
{
    for (; charge != NULL; charge = charge->parent) {
        assert(charge->count[kind] > 0);
        charge->count[kind]--;
        shrink(charge, kind, bytes);
    }
}

bool charge_room(struct charge *charge, size_t more, size_t limit)
{
    while (charge->parent != NULL) {
        charge = charge->parent;
    }
    if (charge->shared == NULL) {
        return true;
    }
    const size_t wanted = charge->total + more;
    const size_t ahead = wanted > charge->told ? wanted - charge->told : 0;
    const size_t before = atomic_fetch_add_explicit(charge->shared, ahead, memory_order_relaxed);
    if (before > limit || ahead > limit - before) {
        atomic_fetch_sub_explicit(charge->shared, ahead, memory_order_relaxed);
        return false;
    }
    charge->told += ahead;
    return true;
}
