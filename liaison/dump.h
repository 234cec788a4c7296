// SPDX-License-Identifier: Apache-2.0
/*
 * The subcommand that shows what a measure frame holds:
 *
 *     bydb-liaison frame [--json] FILE        FILE "-" is standard input; --help explains
 *
 * A bare frame of version 3 or 4 is read; bytes that do not begin as one are taken for a
 * SendResponse or an InternalQueryResponse, and the frame inside is shown (the table's first lines
 * on standard error say so). Exit status: 0 shown, 1 refused (the reason on standard error), 2
 * wrong usage.
 *
 * The JSON is one document: {"rows", "columns": [{"role", "type", "family", "name", "constant",
 * "values"}]}. int64 as decimal text, float64 as its 8 bytes in hex, most significant first, all
 * other types as the value's bytes in hex, null as null; a constant has one value, version 3 has
 * none. JSON is UTF-8, names need not be: in one that is not, each byte that is no part of a
 * character becomes U+FFFD, and "name_hex" or "family_hex" after it has the bytes.
 */
#pragma once

#include "frame/view.h"

#include <jansson.h>

#include <stdio.h>

/* argv[0] is the subcommand's name. */
int dump_main(int argc, char **argv);

/* A new reference. */
json_t *dump_json(const struct view *view);
/* False: not all could be written; errno says why. */
bool dump_table(const struct view *view, FILE *out);
