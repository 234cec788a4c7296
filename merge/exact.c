// SPDX-License-Identifier: Apache-2.0
/* Adding is three additions of whole numbers; the rest is growing, carrying, and rounding once. */
#include "merge/exact.h"

#include <math.h>

#define FIRST_LIMBS 6
/* 2046 places for the lowest bit of a double, 53 bits from there, and 63 more for as many values
 * as can be counted: below 2^(32 * 68). */
#define ALL_LIMBS 68
#define MAX_ADDS  (UINT32_C(1) << 30) /* limbs then stay below 2^62 */
#define LIMB_MASK UINT64_C(0xFFFFFFFF)

enum special { SPECIAL_NAN = 1, SPECIAL_PLUS = 2, SPECIAL_MINUS = 4 };

static void note_special(struct exact *exact, double value)
{
    enum special special = isnan(value) ? SPECIAL_NAN : value > 0 ? SPECIAL_PLUS : SPECIAL_MINUS;
    exact->special |= (uint8_t)special;
}

/* Makes room for limbs low … high; at least doubles, so that what is left behind stays small. */
static void widen(struct exact *exact, size_t low, size_t high, struct arena *arena)
{
    size_t have_high = exact->low + (size_t)exact->count;
    if (exact->count == 0) {
        low = low == 0 ? 0 : low - 1;
        high = low + FIRST_LIMBS;
    } else if (low < exact->low) {
        size_t more = exact->count > exact->low ? exact->low : exact->count;
        low = low < exact->low - more ? low : exact->low - more;
        high = have_high;
    } else {
        low = exact->low;
        high = high > have_high + exact->count ? high : have_high + exact->count;
    }
    high = high < ALL_LIMBS ? high : ALL_LIMBS;
    int64_t *limbs = arena_array(arena, int64_t, high - low);
    if (exact->count > 0) {
        memcpy(limbs + (exact->low - low), exact->limbs, exact->count * sizeof *limbs);
    }
    exact->limbs = limbs;
    exact->low = (uint8_t)low;
    exact->count = (uint8_t)(high - low);
}

/* Leaves all limbs but the highest between 0 and 2^32. */
static void carry(int64_t *limbs, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        limbs[i + 1] += limbs[i] >> 32;
        limbs[i] &= (int64_t)LIMB_MASK;
    }
}

static void carry_all(struct exact *exact, struct arena *arena)
{
    carry(exact->limbs, exact->count);
    int64_t top = exact->limbs[exact->count - 1];
    if ((top >> 32 != 0 && top >> 32 != -1) && exact->low + exact->count < ALL_LIMBS) {
        size_t high = exact->low + (size_t)exact->count + 1;
        widen(exact, exact->low, high, arena);
        carry(exact->limbs, exact->count);
    }
    exact->adds = 0;
}

void exact_add(struct exact *exact, double value, struct arena *arena)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t exponent = bits >> 52 & 0x7FF;
    if (exponent == 0x7FF) {
        note_special(exact, value);
        return;
    }
    uint64_t digits = bits & ((UINT64_C(1) << 52) - 1);
    digits |= (uint64_t)(exponent != 0) << 52;
    size_t place = exponent == 0 ? 0 : exponent - 1; /* of the lowest digit */
    size_t limb = place / 32;
    if (limb < exact->low || limb + 3 > exact->low + (size_t)exact->count) {
        widen(exact, limb, limb + 3, arena);
    }
    uint64_t shifted = digits << place % 32;
    uint64_t rest = digits >> 32 >> (32 - place % 32);
    int64_t sign = -(int64_t)(bits >> 63); /* 0 or -1 */
    int64_t *to = exact->limbs + (limb - exact->low);
    to[0] += ((int64_t)(shifted & LIMB_MASK) ^ sign) - sign;
    to[1] += ((int64_t)(shifted >> 32) ^ sign) - sign;
    to[2] += ((int64_t)rest ^ sign) - sign;
    if (++exact->adds == MAX_ADDS) {
        carry_all(exact, arena);
    }
}

/* Carried limbs of a negative sum turn into those of its magnitude. */
static void negate(int64_t *limbs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        limbs[i] = -limbs[i];
    }
    carry(limbs, count);
}

/* The 64 bits that end with the highest one that is set, or all when there are fewer; the lowest
 * is also set when anything below it is, which is all that rounding needs to know. */
static double round_limbs(const int64_t *limbs, size_t high, size_t low)
{
    uint64_t top = (uint64_t)limbs[high];
    int shift = 0;
    if (high > 0) { /* top < 2^32: two more limbs fill 64 bits */
        uint64_t next = (uint64_t)limbs[high - 1];
        uint64_t last = high > 1 ? (uint64_t)limbs[high - 2] : 0;
        int gap = __builtin_clzll(top) - 32; /* free bits above, at most 31 */
        uint64_t bits = (top << 32 | next) << gap | last >> (32 - gap);
        bool sticky = (last & (LIMB_MASK >> gap)) != 0;
        for (size_t i = 0; i + 2 < high && !sticky; i++) {
            sticky = limbs[i] != 0;
        }
        top = bits | sticky;
        shift = 32 * (int)(high - 1) - gap;
    }
    return ldexp((double)top, shift + 32 * (int)low - 1074);
}

double exact_value(const struct exact *exact)
{
    if ((exact->special & SPECIAL_NAN) != 0 || exact->special == (SPECIAL_PLUS | SPECIAL_MINUS)) {
        return NAN;
    }
    if (exact->special != 0) {
        return exact->special == SPECIAL_PLUS ? INFINITY : -INFINITY;
    }
    int64_t limbs[ALL_LIMBS + 3] = {0};
    size_t count = exact->count + (size_t)3; /* room for the last carries */
    if (exact->count > 0) {
        memcpy(limbs, exact->limbs, exact->count * sizeof *limbs);
    }
    carry(limbs, count);
    bool negative = limbs[count - 1] < 0;
    if (negative) {
        negate(limbs, count);
    }
    size_t high = count;
    while (high > 0 && limbs[high - 1] == 0) {
        high--;
    }
    if (high == 0) {
        return 0;
    }
    double value = round_limbs(limbs, high - 1, exact->low);
    return negative ? -value : value;
}
