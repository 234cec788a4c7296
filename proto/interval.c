// SPDX-License-Identifier: Apache-2.0
#include "proto/interval.h"

#include <string.h>

static const struct unit {
    const char *name;
    int64_t nanoseconds;
} units[] = {
    /* a name that begins with another one stands before it */
    {"ns", 1},
    {"us", 1000},
    {"\xc2\xb5s", 1000}, /* micro sign */
    {"\xce\xbcs", 1000}, /* Greek mu */
    {"ms", 1000000},
    {"s", 1000000000},
    {"m", 60000000000},
    {"h", 3600000000000},
    {"d", 86400000000000},
};

static const struct unit *take_unit(const char **at)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t len = strlen(units[i].name);
        if (strncmp(*at, units[i].name, len) == 0) {
            *at += len;
            return &units[i];
        }
    }
    return NULL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits before the point. False: more than 64 bits hold. */
static bool take_whole(const char **at, int64_t *whole)
{
    bool fits = true;
    for (*whole = 0; is_digit(**at); (*at)++) {
        fits = fits && !__builtin_mul_overflow(*whole, 10, whole) &&
               !__builtin_add_overflow(*whole, **at - '0', whole);
    }
    return fits;
}

/* Digits behind the point, as their part of a unit. */
static int64_t take_part(const char **at, int64_t *scale)
{
    int64_t part = 0;
    *scale = 1;
    for (; is_digit(**at); (*at)++) {
        if (*scale < 1000000000000) {
            part = part * 10 + (**at - '0');
            *scale *= 10;
        }
    }
    return part;
}

/* One number with its unit, added to the sum. */
static bool take_term(const char **at, int64_t *sum)
{
    const char *start = *at;
    int64_t whole;
    int64_t part = 0;
    int64_t scale = 1;
    bool fits = take_whole(at, &whole);
    size_t digits = (size_t)(*at - start);
    if (**at == '.') {
        (*at)++;
        part = take_part(at, &scale);
        digits = (size_t)(*at - start) - 1;
    }
    const struct unit *unit = take_unit(at);
    if (!fits || digits == 0 || unit == NULL) {
        return false;
    }
    int64_t of_part = (int64_t)((double)part * ((double)unit->nanoseconds / (double)scale));
    return !__builtin_mul_overflow(whole, unit->nanoseconds, &whole) &&
           !__builtin_add_overflow(*sum, whole, sum) && !__builtin_add_overflow(*sum, of_part, sum);
}

bool interval_parse(const char *text, int64_t *nanoseconds_out)
{
    const char *at = text;
    int64_t sum = 0;
    while (*at != '\0') {
        if (!take_term(&at, &sum)) {
            return false;
        }
    }
    *nanoseconds_out = sum;
    return sum > 0;
}

static int64_t round_down(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t round_up(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

struct interval_buckets interval_buckets(int64_t begin, int64_t end, int64_t interval)
{
    struct interval_buckets buckets = {.interval = interval};
    int64_t first = round_up(begin, interval);
    int64_t last = round_down(end, interval);
    if (begin <= end && first <= last) {
        uint64_t steps = (uint64_t)last - (uint64_t)first;
        buckets.first = first * interval;
        buckets.count = steps == UINT64_MAX ? steps : steps + 1;
    }
    return buckets;
}
