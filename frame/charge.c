// SPDX-License-Identifier: Apache-2.0
/* Every change is made here and in all parents, so that a parent is the sum of its children. */
#include "frame/charge.h"

#include <assert.h>

static void grow(struct charge *charge, enum charge_kind kind, size_t bytes)
{
    charge->bytes[kind] += bytes;
    charge->total += bytes;
    if (charge->total > charge->peak) {
        charge->peak = charge->total;
    }
}

static void shrink(struct charge *charge, enum charge_kind kind, size_t bytes)
{
    assert(charge->bytes[kind] >= bytes);
    charge->bytes[kind] -= bytes;
    charge->total -= bytes;
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
