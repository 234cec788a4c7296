// SPDX-License-Identifier: Apache-2.0
/*
 * One flag: its row of options_table.h as data, and how its value gets into struct options.
 */
#pragma once

#include "liaison/options/options.h"

enum option_type {
    TYPE_BOOL,
    TYPE_INT,
    TYPE_PORT,
    TYPE_RATIO,
    TYPE_DURATION,
    TYPE_SIZE,
    TYPE_STRING,
    TYPE_LIST,
    TYPE_ENUM,
    TYPE_SECTION, /* no flag: a heading of the help */
};

enum option_status { STATUS_WORKS, STATUS_WARNS, STATUS_REFUSES, STATUS_IGNORED };

struct option_row {
    const char *field; /* the flag with _ for - */
    enum option_type type;
    enum option_status status;
    size_t offset;     /* of the field in struct options */
    const char *value; /* default */
    const char *form;
    const char *help; /* of a SECTION: its title */
};

/* Row i of the table, NULL past the end. */
const struct option_row *option_row_at(size_t i);
/* Flags that begin so are ignored without being in the table; NULL past the end. */
const char *option_row_ignored_prefix(size_t i);
/* The row of a flag's name without its dashes, or of an environment variable's without BYDB_; NULL
 * = there is none. */
const struct option_row *option_row_of(const char *name, size_t len);
const struct option_row *option_row_of_variable(const char *name, size_t len);
/* The row whose flag is spelt most like this, or NULL when none is close. */
const struct option_row *option_row_nearest(const char *name);

#define OPTION_FLAG_SIZE       64
#define OPTION_VARIABLE_PREFIX "BYDB_"
/* "dst_slow_query" as "dst-slow-query", in the caller's buffer. */
const char *option_row_flag(const struct option_row *row, char name[OPTION_FLAG_SIZE]);
/* "dst_slow_query" as "BYDB_DST_SLOW_QUERY", likewise. */
const char *option_row_variable(const struct option_row *row, char name[OPTION_FLAG_SIZE]);
/* What a value looks like in the help ("duration"), and in errors ("a duration such as …"). */
const char *option_row_form(const struct option_row *row);
const char *option_row_expected(const struct option_row *row);

/* Reads the text into the row's field; lists grow. `source` is the flag or the variable as the
 * operator wrote it. */
bool option_row_set(const struct option_row *row, struct options *options, const char *source,
                    const char *text, struct error *err) MUST_CHECK;
/* Empties a STRING or LIST field. */
void option_row_clear(const struct option_row *row, struct options *options);
bool option_row_equal(const struct option_row *row, const struct options *options_a,
                      const struct options *options_b);
