// SPDX-License-Identifier: Apache-2.0
/*
 * Reads one value of each type. Numbers with units share one reader: a decimal number, then a name
 * that a table turns into a factor.
 */
#include "liaison/options/option_value.h"

#include "liaison/own.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name;
    double factor;
};

static const struct unit duration_units[] = {
    {"ns", 1},  {"us", 1e3}, {"µs", 1e3},   {"μs", 1e3}, {"ms", 1e6},
    {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {NULL, 0},
};

static const struct unit size_units[] = {
    {"", 1},         {"b", 1},       {"k", 1e3},      {"kb", 1e3},     {"ki", 0x1p10},
    {"kib", 0x1p10}, {"m", 1e6},     {"mb", 1e6},     {"mi", 0x1p20},  {"mib", 0x1p20},
    {"g", 1e9},      {"gb", 1e9},    {"gi", 0x1p30},  {"gib", 0x1p30}, {"t", 1e12},
    {"tb", 1e12},    {"ti", 0x1p40}, {"tib", 0x1p40}, {NULL, 0},
};

bool option_value_bool(const char *text, bool *value_out)
{
    static const char *const words[] = {"false", "False", "FALSE", "f", "F", "0",
                                        "true",  "True",  "TRUE",  "t", "T", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i]) == 0) {
            *value_out = i >= 6;
            return true;
        }
    }
    return false;
}

bool option_value_int(const char *text, int64_t *value_out)
{
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 0);
    if (end == text || *end != '\0' || errno != 0 || isspace((unsigned char)text[0])) {
        return false;
    }
    *value_out = value;
    return true;
}

bool option_value_port(const char *text, uint16_t *value_out)
{
    int64_t value = 0;
    if (!option_value_int(text, &value) || value < 0 || value > UINT16_MAX) {
        return false;
    }
    *value_out = (uint16_t)value;
    return true;
}

bool option_value_ratio(const char *text, double *value_out)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || isspace((unsigned char)text[0])) {
        return false;
    }
    *value_out = value;
    return true;
}

/* Digits with at most one point; strtod would also take 1e3, 0x10 and nan. */
static bool read_decimal(const char **at, double *value_out)
{
    const size_t digits = strspn(*at, "0123456789");
    const size_t point = (*at)[digits] == '.' ? 1 : 0;
    const size_t fraction = point == 1 ? strspn(*at + digits + 1, "0123456789") : 0;
    char text[48];
    const size_t len = digits + point + fraction;
    if (digits + fraction == 0 || len >= sizeof text) {
        return false;
    }
    memcpy(text, *at, len);
    text[len] = '\0';
    *value_out = strtod(text, NULL);
    *at += len;
    return true;
}

/* The unit is what follows up to the next digit or point. */
static bool read_unit(const struct unit *units, const char **at, double *factor_out)
{
    const size_t len = strcspn(*at, "0123456789.");
    for (; units->name != NULL; units++) {
        if (strlen(units->name) == len && strncasecmp(units->name, *at, len) == 0) {
            *factor_out = units->factor;
            *at += len;
            return true;
        }
    }
    return false;
}

bool option_value_duration(const char *text, int64_t *value_out)
{
    const bool negative = text[0] == '-';
    const char *at = text + (text[0] == '-' || text[0] == '+' ? 1 : 0);
    double total = 0;
    if (strcmp(at, "0") == 0) {
        *value_out = 0;
        return true;
    }
    do {
        double number = 0;
        double factor = 0;
        if (!read_decimal(&at, &number) || !read_unit(duration_units, &at, &factor)) {
            return false;
        }
        total += number * factor;
    } while (*at != '\0');
    if (total > 9.2e18) {
        return false;
    }
    *value_out = (int64_t)(negative ? -total : total);
    return true;
}

bool option_value_size(const char *text, uint64_t *value_out)
{
    const char *at = text;
    double number = 0;
    double factor = 0;
    if (!read_decimal(&at, &number)) {
        return false;
    }
    at += strspn(at, " ");
    if (!read_unit(size_units, &at, &factor) || *at != '\0' || number * factor > 1e18) {
        return false;
    }
    *value_out = (uint64_t)(number * factor);
    return true;
}

int option_value_choice(const char *choices, const char *text, bool *later_out)
{
    const size_t len = strlen(text);
    int index = 0;
    for (const char *at = choices; *at != '\0'; index++) {
        const bool later = *at == '!';
        at += later ? 1 : 0;
        const size_t word = strcspn(at, "|");
        if (word == len && strncmp(at, text, len) == 0) {
            *later_out = later;
            return index;
        }
        at += word + (at[word] == '|' ? 1 : 0);
    }
    return -1;
}

void option_value_list_add(struct option_list *list, const char *text, size_t len)
{
    list->items = own_grow(list->items, list->count + 1, sizeof *list->items);
    list->items[list->count++] = own_text_of(text, len);
}

void option_value_list_fini(struct option_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i]);
    }
    free(list->items);
    *list = (struct option_list){0};
}
