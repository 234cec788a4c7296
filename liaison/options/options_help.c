// SPDX-License-Identifier: Apache-2.0
/* --help, made from the same rows that are read. */
#include "liaison/options/option_row.h"
#include "liaison/options/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* To a stream of memory, which does not fail. */
static void __attribute__((format(printf, 2, 3))) print(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vfprintf(out, format, arguments);
    va_end(arguments);
}

/* "exact|rows" of "exact|rows|!pushdown": what is not built is not offered. */
static void help_choices(FILE *out, const char *choices)
{
    const char *before = " (";
    for (const char *at = choices; *at != '\0';) {
        const int len = (int)strcspn(at, "|");
        if (*at != '!') {
            print(out, "%s%.*s", before, len, at);
            before = "|";
        }
        at += len + (at[len] == '|' ? 1 : 0);
    }
    print(out, ")");
}

static void help_row(FILE *out, const struct option_row *row)
{
    char flag[OPTION_FLAG_SIZE];
    print(out, "  --%s %s", option_row_flag(row, flag), option_row_form(row));
    print(out, row->value[0] != '\0' ? " [%s]\n      %s" : "%s\n      %s", row->value, row->help);
    if (row->type == TYPE_ENUM) {
        help_choices(out, row->form);
    }
    print(out, "\n");
}

/* A section's title is printed before its first row that works. */
static void help_working(FILE *out)
{
    const char *title = NULL;
    const struct option_row *row;
    for (size_t i = 0; (row = option_row_at(i)) != NULL; i++) {
        if (row->type == TYPE_SECTION) {
            title = row->help;
            continue;
        }
        if (row->status == STATUS_WORKS) {
            print(out, title == NULL ? "%s" : "\n%s\n", title == NULL ? "" : title);
            title = NULL;
            help_row(out, row);
        }
    }
}

static void help_names(FILE *out, const char *title, enum option_status status)
{
    char flag[OPTION_FLAG_SIZE];
    const struct option_row *row;
    int column = 0;
    print(out, "\n%s", title);
    for (size_t i = 0; (row = option_row_at(i)) != NULL; i++) {
        if (row->type != TYPE_SECTION && row->status == status) {
            column = column > 70 ? 0 : column;
            print(out, "%s--%s", column == 0 ? "\n  " : " ", option_row_flag(row, flag));
            column += (int)strlen(flag) + 3;
        }
    }
    print(out, "\n");
}

static void help_signals(FILE *out)
{
    print(out,
          "\n\nSIGTERM, SIGINT, SIGQUIT and SIGHUP end it: health checks say NOT_SERVING, after "
          "--drain-delay the\nlistener leaves and clients are told to go elsewhere, running "
          "queries have --grace. A second signal\nends it at once.\n"
          "\nExit status: 0 ended by a signal or after --help and --version, 1 it cannot start "
          "(port taken, list of\nnodes unusable; the log says why), 64 a flag or variable is "
          "wrong.\n");
}

char *options_help(void)
{
    char *text = NULL;
    size_t len = 0;
    const char *prefix;
    FILE *out = open_memstream(&text, &len);
    print(out, "bydb-liaison answers measure queries from the data nodes of a BanyanDB cluster.\n"
               "\nUsage: bydb-liaison [--flag=value ...]\n"
               "       bydb-liaison frame [--json] FILE   a frame as a table; - is standard input\n"
               "\nEach flag can also come from the environment: --grpc-port as BYDB_GRPC_PORT. "
               "The command line\nwins. Defaults stand in brackets.\n");
    help_working(out);
    help_names(out, "Not available yet (setting one starts with a warning)", STATUS_WARNS);
    help_names(out, "Not available yet (setting one is an error)", STATUS_REFUSES);
    help_names(out, "Accepted and ignored, so that command lines of the Go liaison start",
               STATUS_IGNORED);
    for (size_t i = 0; (prefix = option_row_ignored_prefix(i)) != NULL; i++) {
        print(out, "%s--%s*", i == 0 ? "  " : " ", prefix);
    }
    help_signals(out);
    print(out, "\n-h, --help shows this, -v, --version the version.\n");
    (void)fclose(out); /* of memory */
    return text;
}
