// SPDX-License-Identifier: Apache-2.0
#include "proto/rfc3339.h"

#include <stdio.h>
#include <time.h>

struct scan {
    struct slice text;
    size_t at;
    bool bad; /* sticky: looked at once, at the end */
};

static uint8_t peek(const struct scan *scan)
{
    return scan->at < scan->text.len ? scan->text.ptr[scan->at] : 0;
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static int number(struct scan *scan, int digits, int min, int max)
{
    int value = 0;
    for (int i = 0; i < digits; i++) {
        if (!is_digit(peek(scan))) {
            scan->bad = true;
            return min;
        }
        value = value * 10 + (scan->text.ptr[scan->at++] - '0');
    }
    scan->bad = scan->bad || value < min || value > max;
    return value;
}

static void expect(struct scan *scan, uint8_t c)
{
    if (peek(scan) == c) {
        scan->at++;
    } else {
        scan->bad = true;
    }
}

static int32_t fraction(struct scan *scan)
{
    if (peek(scan) != '.') {
        return 0;
    }
    scan->at++;
    int32_t nanos = 0;
    int digits = 0;
    for (; digits < 9 && is_digit(peek(scan)); digits++) {
        nanos = nanos * 10 + (scan->text.ptr[scan->at++] - '0');
    }
    scan->bad = scan->bad || digits == 0;
    for (; digits < 9; digits++) {
        nanos *= 10;
    }
    return nanos;
}

static int64_t offset(struct scan *scan)
{
    uint8_t sign = peek(scan);
    scan->at++;
    if (sign == 'Z') {
        return 0;
    }
    scan->bad = scan->bad || (sign != '+' && sign != '-');
    int hours = number(scan, 2, 0, 23);
    expect(scan, ':');
    int64_t seconds = (hours * INT64_C(60) + number(scan, 2, 0, 59)) * 60;
    return sign == '-' ? -seconds : seconds;
}

/* Days since 1970-01-01 of the proleptic Gregorian calendar, counted from March so that the leap
 * day comes last. */
static int64_t days(int year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1;
    int64_t m = month > 2 ? month - 3 : month + 9;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static int month_days(int year, int month)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return lengths[month - 1] + (month == 2 && leap ? 1 : 0);
}

bool rfc3339_parse(struct slice text, struct moment *moment)
{
    struct scan scan = {.text = text};
    int year = number(&scan, 4, 1, 9999);
    expect(&scan, '-');
    int month = number(&scan, 2, 1, 12);
    expect(&scan, '-');
    int day = number(&scan, 2, 1, scan.bad ? 31 : month_days(year, month));
    expect(&scan, 'T');
    int hour = number(&scan, 2, 0, 23);
    expect(&scan, ':');
    int minute = number(&scan, 2, 0, 59);
    expect(&scan, ':');
    int second = number(&scan, 2, 0, 59);
    moment->nanos = fraction(&scan);
    int64_t shift = offset(&scan);
    moment->seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second - shift;
    /* 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z, offsets applied. */
    bool in_range = moment->seconds >= -62135596800 && moment->seconds <= 253402300799;
    return !scan.bad && scan.at == text.len && in_range;
}

void rfc3339_print(struct moment moment, char text[RFC3339_SIZE])
{
    struct tm tm;
    time_t seconds = (time_t)moment.seconds;
    if (gmtime_r(&seconds, &tm) == NULL || tm.tm_year + 1900 > 9999 || tm.tm_year + 1900 < 1) {
        (void)snprintf(text, RFC3339_SIZE, "%lld.%09d", (long long)moment.seconds,
                       (int)moment.nanos);
        return; /* no such text: the number says as much */
    }
    size_t len =
        (size_t)snprintf(text, RFC3339_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900,
                         tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
    int digits = moment.nanos == 0             ? 0
                 : moment.nanos % 1000000 == 0 ? 3
                 : moment.nanos % 1000 == 0    ? 6
                                               : 9;
    int shown = digits == 3   ? moment.nanos / 1000000
                : digits == 6 ? moment.nanos / 1000
                              : moment.nanos;
    if (digits > 0) {
        len += (size_t)snprintf(text + len, RFC3339_SIZE - len, ".%0*d", digits, shown);
    }
    (void)snprintf(text + len, RFC3339_SIZE - len, "Z");
}
