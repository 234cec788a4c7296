// SPDX-License-Identifier: Apache-2.0
/*
 * Text for people, gathered in memory: one cell is null, 42, 1.5, "text" or 0x6279746573. What a
 * TagValue or FieldValue message holds is shown like that too; its null variant as {null}, no
 * variant as {}, and one that is not well-formed as its bytes, marked as malformed.
 */
#pragma once

#include "frame/view.h"

struct dump_text {
    char *ptr; /* own; not terminated */
    size_t len;
    size_t capacity;
};

void dump_text_fini(struct dump_text *text);

void dump_text_put(struct dump_text *text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Bytes that are printable UTF-8 as they are, all others as \xNN; no quotes around. */
void dump_text_plain(struct dump_text *text, struct slice bytes);
void dump_text_cell(struct dump_text *text, const struct column *column, size_t row);

/* How many characters (not bytes) follow the first `from` bytes. */
size_t dump_text_characters(const struct dump_text *text, size_t from);
/* How many bytes at the front are one character (1 to 4), 0 if none is well-formed UTF-8. */
size_t dump_text_character(struct slice bytes);
