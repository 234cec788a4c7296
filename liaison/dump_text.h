// SPDX-License-Identifier: Apache-2.0
/* One cell as text for people: null, 42, 1.5, "text", 0x6279746573, and what a TagValue or
 * FieldValue message holds: null (its null variant) as {null}, no variant as {}. */
#pragma once

#include "frame/view.h"

#include <stdio.h>

void dump_text_cell(const struct column *column, size_t row, FILE *out);

/* Bytes that are printable UTF-8 as they are, all others as \xNN; no quotes around. */
void dump_text_plain(struct slice bytes, FILE *out);

/* How many bytes at the front are one character (1 to 4), 0 if none is well-formed UTF-8. */
size_t dump_text_character(struct slice bytes);
