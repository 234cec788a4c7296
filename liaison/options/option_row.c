// SPDX-License-Identifier: Apache-2.0
/*
 * The rows of options_table.h as data. Everything that sets a value goes through option_row_set,
 * defaults too, so there is one syntax and one error text for each type.
 */
#include "liaison/options/option_row.h"

#include "liaison/options/option_value.h"
#include "liaison/own.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/param.h>

static const struct option_row rows[] = {
#define IGNORED_PREFIX(prefix)
#define SECTION(title) {"", TYPE_SECTION, STATUS_WORKS, 0, "", "", title},
#define OPTION(type, field, value, status, form, help)                                             \
    {#field, TYPE_##type, STATUS_##status, offsetof(struct options, field), value, form, help},
#include "liaison/options/options_table.h"
};

#define ROW_COUNT (sizeof rows / sizeof rows[0])

static const char *const ignored_prefixes[] = {
#define SECTION(title)
#define OPTION(type, field, value, status, form, help)
#define IGNORED_PREFIX(prefix) prefix,
#include "liaison/options/options_table.h"
};

#define PREFIX_COUNT (sizeof ignored_prefixes / sizeof ignored_prefixes[0])

/* What a reader of an error or of the help is told about a value. */
static const struct {
    const char *form;
    const char *expected;
} types[] = {
    [TYPE_BOOL] = {"", "true or false"},
    [TYPE_INT] = {"number", "a whole number"},
    [TYPE_PORT] = {"port", "a port from 0 to 65535"},
    [TYPE_RATIO] = {"number", "a number such as 0.1"},
    [TYPE_DURATION] = {"duration", "a duration such as 1m30s or 500ms"},
    [TYPE_SIZE] = {"size", "a size such as 16MiB, 10MB or 4096"},
    [TYPE_STRING] = {"text", "a text"},
    [TYPE_LIST] = {"list", "a list such as a,b"},
    [TYPE_ENUM] = {"", ""},
    [TYPE_SECTION] = {"", ""},
};

const struct option_row *option_row_at(size_t i)
{
    return i < ROW_COUNT ? &rows[i] : NULL;
}

const char *option_row_ignored_prefix(size_t i)
{
    return i < PREFIX_COUNT ? ignored_prefixes[i] : NULL;
}

const char *option_row_flag(const struct option_row *row, char name[OPTION_FLAG_SIZE])
{
    size_t i = 0;
    for (; row->field[i] != '\0' && i < 63; i++) {
        name[i] = (char)(row->field[i] == '_' ? '-' : row->field[i]);
    }
    name[i] = '\0';
    return name;
}

const char *option_row_variable(const struct option_row *row, char name[OPTION_FLAG_SIZE])
{
    size_t used = sizeof OPTION_VARIABLE_PREFIX - 1;
    memcpy(name, OPTION_VARIABLE_PREFIX, used);
    for (size_t i = 0; row->field[i] != '\0' && used < OPTION_FLAG_SIZE - 1; i++) {
        name[used++] = (char)(toupper)((unsigned char)row->field[i]);
    }
    name[used] = '\0';
    return name;
}

const struct option_row *option_row_of(const char *name, size_t len)
{
    char flag[OPTION_FLAG_SIZE];
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].type != TYPE_SECTION && strlen(rows[i].field) == len &&
            memcmp(option_row_flag(&rows[i], flag), name, len) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

/* "grpc_port" is BYDB_GRPC_PORT. */
const struct option_row *option_row_of_variable(const char *name, size_t len)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].type != TYPE_SECTION && strlen(rows[i].field) == len &&
            strncasecmp(rows[i].field, name, len) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

const char *option_row_form(const struct option_row *row)
{
    return row->form[0] != '\0' && row->type != TYPE_ENUM ? row->form : types[row->type].form;
}

const char *option_row_expected(const struct option_row *row)
{
    return row->type == TYPE_ENUM ? row->form : types[row->type].expected;
}

static size_t distance(const char *a, const char *b)
{
    size_t line[128];
    const size_t len = MIN(strlen(b), sizeof line / sizeof line[0] - 1);
    for (size_t j = 0; j <= len; j++) {
        line[j] = j;
    }
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = line[0];
        line[0] = i;
        for (size_t j = 1; j <= len; j++) {
            const size_t above = line[j];
            const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            line[j] = MIN(MIN(above, line[j - 1]) + 1, change);
            diagonal = above;
        }
    }
    return line[len];
}

const struct option_row *option_row_nearest(const char *name)
{
    char flag[OPTION_FLAG_SIZE] = "";
    const struct option_row *nearest = NULL;
    size_t least = strlen(name) / 3 + 1;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const size_t steps =
            rows[i].type == TYPE_SECTION ? least : distance(name, option_row_flag(&rows[i], flag));
        if (steps < least) {
            least = steps;
            nearest = &rows[i];
        }
    }
    return nearest;
}

static void *field_of(const struct option_row *row, struct options *options)
{
    return (char *)options + row->offset;
}

static const void *field_at(const struct option_row *row, const struct options *options)
{
    return (const char *)options + row->offset;
}

static void list_read(struct option_list *list, const char *text)
{
    while (*text != '\0') {
        const size_t len = strcspn(text, ",");
        if (len > 0) {
            option_value_list_add(list, text, len);
        }
        text += len + (text[len] == ',' ? 1 : 0);
    }
}

static bool store(const struct option_row *row, struct options *options, const char *text)
{
    void *field = field_of(row, options);
    switch (row->type) {
    case TYPE_BOOL:
        return option_value_bool(text, field);
    case TYPE_INT:
        return option_value_int(text, field);
    case TYPE_PORT:
        return option_value_port(text, field);
    case TYPE_RATIO:
        return option_value_ratio(text, field);
    case TYPE_DURATION:
        return option_value_duration(text, field);
    case TYPE_SIZE:
        return option_value_size(text, field);
    case TYPE_STRING:
        free(*(char **)field);
        *(char **)field = own_text(text);
        return true;
    case TYPE_LIST:
        list_read(field, text);
        return true;
    case TYPE_ENUM:
    case TYPE_SECTION:
        break;
    }
    return false;
}

/* "dns, file or none" */
static void choices_text(const char *choices, char *text, size_t size)
{
    size_t used = 0;
    size_t count = 0;
    text[0] = '\0';
    for (const char *at = choices; *at != '\0' && used < size; count++) {
        at += *at == '!' ? 1 : 0;
        const int len = (int)strcspn(at, "|");
        const bool last = at[len] == '\0';
        const char *before = count == 0 ? "" : last ? " or " : ", ";
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", before, len, at);
        at += len + (last ? 0 : 1);
    }
}

static bool choice_set(const struct option_row *row, struct options *options, const char *source,
                       const char *text, struct error *err)
{
    char choices[256];
    bool later = false;
    const int index = option_value_choice(row->form, text, &later);
    if (index < 0) {
        choices_text(row->form, choices, sizeof choices);
        return error_set(err, ERROR_INVALID_ARGUMENT, "%s=%s: expected %s", source, text, choices);
    }
    if (later) {
        return error_set(err, ERROR_UNIMPLEMENTED, "%s=%s is not available yet", source, text);
    }
    *(int *)field_of(row, options) = index;
    return true;
}

bool option_row_set(const struct option_row *row, struct options *options, const char *source,
                    const char *text, struct error *err)
{
    if (row->type == TYPE_ENUM) {
        return choice_set(row, options, source, text, err);
    }
    if (!store(row, options, text)) {
        return error_set(err, ERROR_INVALID_ARGUMENT, "%s=%s: expected %s", source, text,
                         types[row->type].expected);
    }
    return true;
}

void option_row_clear(const struct option_row *row, struct options *options)
{
    void *field = field_of(row, options);
    if (row->type == TYPE_STRING) {
        free(*(char **)field);
        *(char **)field = NULL;
    } else if (row->type == TYPE_LIST) {
        option_value_list_fini(field);
    }
}

static bool list_equal(const struct option_list *a, const struct option_list *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++) {
        equal = strcmp(a->items[i], b->items[i]) == 0;
    }
    return equal;
}

bool option_row_equal(const struct option_row *row, const struct options *options_a,
                      const struct options *options_b)
{
    const void *a = field_at(row, options_a);
    const void *b = field_at(row, options_b);
    switch (row->type) {
    case TYPE_BOOL:
        return *(const bool *)a == *(const bool *)b;
    case TYPE_PORT:
        return *(const uint16_t *)a == *(const uint16_t *)b;
    case TYPE_RATIO:
    case TYPE_INT:
    case TYPE_DURATION:
    case TYPE_SIZE:
        return memcmp(a, b, sizeof(int64_t)) == 0;
    case TYPE_STRING:
        return strcmp(*(char *const *)a, *(char *const *)b) == 0;
    case TYPE_LIST:
        return list_equal(a, b);
    case TYPE_ENUM:
        return *(const int *)a == *(const int *)b;
    case TYPE_SECTION:
        break;
    }
    return true;
}
