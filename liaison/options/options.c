// SPDX-License-Identifier: Apache-2.0
/*
 * The two places a value can come from besides its default, and what is said about flags whose
 * function is not built yet, and about variables that belong to no flag.
 */
#include "liaison/options/options.h"

#include "liaison/options/option_row.h"
#include "liaison/options/option_value.h"
#include "liaison/options/options_check.h"
#include "liaison/own.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#define PREFIX_LEN strlen(OPTION_VARIABLE_PREFIX)

static bool is_ignored(const char *name)
{
    const char *prefix;
    for (size_t i = 0; (prefix = option_row_ignored_prefix(i)) != NULL; i++) {
        if (strncmp(name, prefix, strlen(prefix)) == 0) {
            return true;
        }
    }
    return false;
}

static bool unknown_flag(const char *name, struct error *err)
{
    char flag[OPTION_FLAG_SIZE];
    const struct option_row *nearest = option_row_nearest(name);
    if (nearest == NULL) {
        return error_set(err, ERROR_INVALID_ARGUMENT, "unknown flag: --%s", name);
    }
    return error_set(err, ERROR_INVALID_ARGUMENT, "unknown flag: --%s (did you mean --%s?)", name,
                     option_row_flag(nearest, flag));
}

/* Where a value came from. */
struct arguments {
    struct options *options;
    bool given[256]; /* rows set on the command line: the environment does not matter */
    int count;
    char **values;
    int next;
};

static size_t row_index(const struct option_row *row)
{
    const size_t index = (size_t)(row - option_row_at(0));
    assert(index < sizeof((struct arguments *)NULL)->given);
    return index;
}

static bool argument_set(struct arguments *arguments, const struct option_row *row,
                         const char *text, struct error *err)
{
    char flag[OPTION_FLAG_SIZE];
    char source[68];
    const size_t index = row_index(row);
    if (row->type == TYPE_LIST && !arguments->given[index]) {
        option_row_clear(row, arguments->options); /* the default; later ones add */
    }
    arguments->given[index] = true;
    (void)snprintf(source, sizeof source, "--%s", option_row_flag(row, flag));
    return option_row_set(row, arguments->options, source, text, err);
}

/* Flags of which only the prefix is known may have their value behind them. */
static void skip_value(struct arguments *arguments)
{
    if (arguments->next < arguments->count && arguments->values[arguments->next][0] != '-') {
        arguments->next++;
    }
}

/* A flag that is no row: of the other side, or a mistake. */
static bool read_other(struct arguments *arguments, const char *name, struct error *err)
{
    const size_t len = strcspn(name, "=");
    if (!is_ignored(name)) {
        char flag[OPTION_FLAG_SIZE];
        (void)snprintf(flag, sizeof flag, "%.*s", (int)MIN(len, sizeof flag - 1), name);
        return unknown_flag(flag, err);
    }
    if (name[len] == '\0') {
        skip_value(arguments);
    }
    return true;
}

static bool read_flag(struct arguments *arguments, const char *name, struct error *err)
{
    const size_t len = strcspn(name, "=");
    const struct option_row *row = option_row_of(name, len);
    if (row == NULL) {
        return read_other(arguments, name, err);
    }
    if (name[len] == '=') {
        return argument_set(arguments, row, name + len + 1, err);
    }
    if (row->type == TYPE_BOOL) {
        return argument_set(arguments, row, "true", err);
    }
    if (arguments->next == arguments->count) {
        return error_set(err, ERROR_INVALID_ARGUMENT, "--%s: its value is missing: expected %s",
                         name, option_row_expected(row));
    }
    return argument_set(arguments, row, arguments->values[arguments->next++], err);
}

/* -n is the only short flag with a value: -n x, -n=x, -nx. */
static bool read_short(struct arguments *arguments, const char *text, struct error *err)
{
    char long_form[256];
    if (text[1] == 'n') {
        const char *value = text + 2 + (text[2] == '=' ? 1 : 0);
        (void)snprintf(long_form, sizeof long_form, text[2] == '\0' ? "name%s" : "name=%s", value);
        return read_flag(arguments, long_form, err);
    }
    return error_set(err, ERROR_INVALID_ARGUMENT,
                     "unknown flag: %s; the short ones are -h, -v and -n", text);
}

static bool read_argument(struct arguments *arguments, const char *text, struct error *err)
{
    if (strcmp(text, "-h") == 0 || strcmp(text, "--help") == 0) {
        arguments->options->help_wanted = true;
        return true;
    }
    if (strcmp(text, "-v") == 0 || strcmp(text, "--version") == 0) {
        arguments->options->version_wanted = true;
        return true;
    }
    if (strncmp(text, "--", 2) == 0) {
        return read_flag(arguments, text + 2, err);
    }
    if (text[0] == '-' && text[1] != '\0') {
        return read_short(arguments, text, err);
    }
    return error_set(err, ERROR_INVALID_ARGUMENT,
                     "unexpected argument: %s; every setting is a flag, --name=value", text);
}

static bool read_arguments(struct arguments *arguments, struct error *err)
{
    while (arguments->next < arguments->count) {
        if (!read_argument(arguments, arguments->values[arguments->next++], err)) {
            return false;
        }
    }
    return true;
}

/* What Kubernetes sets for a service that is called bydb-…: BYDB_LIAISON_SERVICE_HOST=…,
 * BYDB_LIAISON_PORT=tcp://…, BYDB_LIAISON_PORT_17912_TCP=… and their like. */
static bool is_service_link(const char *variable)
{
    static const char *const parts[] = {"_SERVICE_HOST=", "_SERVICE_PORT", "=tcp://", "_TCP"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(variable, parts[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* "BYDB_STREAM_ROOT_PATH" as "stream-root-path". */
static const char *flag_of(const char *variable, size_t len, char flag[OPTION_FLAG_SIZE])
{
    size_t used = 0;
    for (size_t i = PREFIX_LEN; i < len && used < OPTION_FLAG_SIZE - 1; i++) {
        flag[used++] = (char)(variable[i] == '_' ? '-' : (tolower)((unsigned char)variable[i]));
    }
    flag[used] = '\0';
    return flag;
}

/* A slip in a flag ends the start; one in a variable may be a setting of another program. */
static void warn_of_variable(struct options *options, const char *variable, size_t len)
{
    static const char poison[] = "BYDB_POISON_RELEASED="; /* read by main */
    char flag[OPTION_FLAG_SIZE];
    char meant[OPTION_FLAG_SIZE];
    char text[256];
    if (is_ignored(flag_of(variable, len, flag)) || is_service_link(variable) ||
        strncmp(variable, poison, strlen(poison)) == 0) {
        return;
    }
    const struct option_row *nearest = option_row_nearest(flag);
    const int written = snprintf(
        text, sizeof text, "%.*s belongs to no flag and does nothing; %s%s", (int)MIN(len, 100),
        variable, nearest == NULL ? "--help lists all flags" : "did you mean ",
        nearest == NULL ? "" : option_row_variable(nearest, meant));
    option_value_list_add(&options->warnings, text, (size_t)written);
}

static bool read_variable(struct arguments *arguments, const char *variable, struct error *err)
{
    const size_t len = strcspn(variable, "=");
    if (strncmp(variable, OPTION_VARIABLE_PREFIX, PREFIX_LEN) != 0 || variable[len] == '\0' ||
        variable[len + 1] == '\0') {
        return true; /* an empty variable is as good as none, as in Go */
    }
    const struct option_row *row = option_row_of_variable(variable + PREFIX_LEN, len - PREFIX_LEN);
    if (row == NULL) {
        warn_of_variable(arguments->options, variable, len);
        return true;
    }
    if (arguments->given[row_index(row)]) {
        return true;
    }
    char source[80];
    (void)snprintf(source, sizeof source, "%.*s", (int)MIN(len, sizeof source - 1), variable);
    if (row->type == TYPE_LIST) {
        option_row_clear(row, arguments->options);
    }
    return option_row_set(row, arguments->options, source, variable + len + 1, err);
}

static void set_defaults(struct options *options)
{
    struct error err;
    const struct option_row *row;
    for (size_t i = 0; (row = option_row_at(i)) != NULL; i++) {
        if (row->type != TYPE_SECTION &&
            !option_row_set(row, options, row->field, row->value, &err)) {
            abort(); /* a row of the table is wrong; every start reads them all */
        }
    }
}

/* One row that was set to something else than its default. */
static bool check_built(struct options *options, const struct option_row *row, struct error *err)
{
    char flag[OPTION_FLAG_SIZE];
    char text[160];
    if (row->status == STATUS_REFUSES) {
        return error_set(err, ERROR_UNIMPLEMENTED,
                         "--%s is not available yet, and going on without it would do harm: "
                         "leave it out, and have something before the liaison do it",
                         option_row_flag(row, flag));
    }
    if (row->status == STATUS_WARNS) {
        const int len = snprintf(text, sizeof text, "--%s is not available yet and does nothing",
                                 option_row_flag(row, flag));
        option_value_list_add(&options->warnings, text, (size_t)len);
    }
    return true;
}

static bool check_availability(struct options *options, struct error *err)
{
    struct options defaults = {0};
    const struct option_row *row;
    bool good = true;
    set_defaults(&defaults);
    for (size_t i = 0; good && (row = option_row_at(i)) != NULL; i++) {
        good = row->type == TYPE_SECTION || option_row_equal(row, options, &defaults) ||
               check_built(options, row, err);
    }
    options_fini(&defaults);
    return good;
}

bool options_read(struct options *options, int argc, char **argv, char **envp, struct error *err)
{
    const int first = argc > 1 && strcmp(argv[1], "liaison") == 0 ? 2 : 1;
    struct arguments arguments = {
        .options = options, .count = argc, .values = argv, .next = MIN(first, argc)};
    *options = (struct options){0};
    set_defaults(options);
    if (!read_arguments(&arguments, err)) {
        return false;
    }
    if (options->help_wanted || options->version_wanted) {
        return true;
    }
    for (char **variable = envp; *variable != NULL; variable++) {
        if (!read_variable(&arguments, *variable, err)) {
            return false;
        }
    }
    return options_check(options, err) && check_availability(options, err);
}

void options_fini(struct options *options)
{
    const struct option_row *row;
    for (size_t i = 0; (row = option_row_at(i)) != NULL; i++) {
        option_row_clear(row, options);
    }
    free(options->node_name);
    free(options->node_tier);
    option_value_list_fini(&options->warnings);
    *options = (struct options){0};
}

/* The extensions that the Go liaison's configuration library knows. */
static bool is_config_name(const char *name)
{
    static const char *const extensions[] = {"yaml", "yml",    "json",       "toml",
                                             "hcl",  "tfvars", "properties", "props",
                                             "prop", "dotenv", "env",        "ini"};
    const char *extension = strncmp(name, "liaison.", 8) == 0   ? name + 8
                            : strncmp(name, "logging.", 8) == 0 ? name + 8
                                                                : "";
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++) {
        if (strcmp(extension, extensions[i]) == 0) {
            return true;
        }
    }
    return false;
}

char *options_unread_file(const char *directory)
{
    DIR *entries = opendir(directory);
    char *found = NULL;
    if (entries == NULL) {
        return NULL;
    }
    for (struct dirent *entry = readdir(entries); entry != NULL && found == NULL;
         entry = readdir(entries)) {
        found = is_config_name(entry->d_name) ? own_text(entry->d_name) : NULL;
    }
    closedir(entries);
    return found;
}
