// SPDX-License-Identifier: Apache-2.0
/*
 * A sum of floats that is exact: what comes out depends on the values alone, not on their order
 * and not on how they were split before they met.
 *
 * Every finite double is a whole number of units of 2^-1074. The sum is such a number too, kept in
 * limbs of 32 bits with 31 bits of room for carries; only the limbs between the smallest and the
 * greatest value seen are stored, five or six for values of a usual range. It is rounded once,
 * when it is read, to the nearest double (ties to even), and has no overflow on the way.
 *
 *     limb      … | 2^(32 (low+2)) | 2^(32 (low+1)) | 2^(32 low) |      units of 2^-1074
 *
 * Infinities and NaN are remembered aside: NaN, or both infinities, give NaN.
 */
#pragma once

#include "merge/arena.h"

struct exact {
    int64_t *limbs; /* borrow: region; lowest first */
    uint32_t adds;  /* since carries were last moved up */
    uint8_t low;    /* the place of limbs[0] */
    uint8_t count;  /* of limbs */
    uint8_t special;
};

/* A zeroed one is the sum of nothing, 0. */
void exact_add(struct exact *exact, double value, struct arena *arena);

/* The sum as a double; beyond the greatest, infinity. -0 is not told from 0. */
double exact_value(const struct exact *exact);
