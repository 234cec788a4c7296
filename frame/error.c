// SPDX-License-Identifier: Apache-2.0
/* Texts are cut, never grown: an error must be reportable when nothing else works. */
#include "frame/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX (sizeof((struct error *)0)->text - 1)

/* A text that wanted more bytes than there are ends in "...", cut between two characters. */
static void mark_cut(struct error *err, size_t wanted)
{
    if (wanted <= TEXT_MAX) {
        return;
    }
    size_t at = TEXT_MAX - 3;
    while (at > 0 && ((unsigned char)err->text[at] & 0xC0) == 0x80) {
        at--;
    }
    memcpy(err->text + at, "...", 4);
}

static void print(struct error *err, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));

static void print(struct error *err, const char *fmt, va_list args)
{
    int wanted = vsnprintf(err->text, sizeof err->text, fmt, args);
    if (wanted < 0) {
        wanted = 0;
        err->text[0] = '\0';
    }
    mark_cut(err, (size_t)wanted);
}

static void append(struct error *err, const char *more)
{
    size_t used = strlen(err->text);
    size_t len = strlen(more);
    size_t fits = len < TEXT_MAX - used ? len : TEXT_MAX - used;
    memcpy(err->text + used, more, fits);
    err->text[used + fits] = '\0';
    mark_cut(err, used + len);
}

bool error_set(struct error *err, enum error_code code, const char *fmt, ...)
{
    if (err == NULL) {
        return false;
    }
    va_list args;
    va_start(args, fmt);
    print(err, fmt, args);
    va_end(args);
    err->code = code;
    return false;
}

bool error_prefix(struct error *err, const char *fmt, ...)
{
    if (err == NULL) {
        return false;
    }
    char rest[sizeof err->text];
    memcpy(rest, err->text, sizeof rest);
    va_list args;
    va_start(args, fmt);
    print(err, fmt, args);
    va_end(args);
    append(err, ": ");
    append(err, rest);
    return false;
}

#define CODES_10(ten)                                                                              \
    "CODE_" #ten "0", "CODE_" #ten "1", "CODE_" #ten "2", "CODE_" #ten "3", "CODE_" #ten "4",      \
        "CODE_" #ten "5", "CODE_" #ten "6", "CODE_" #ten "7", "CODE_" #ten "8", "CODE_" #ten "9"

const char *error_code_name(enum error_code code)
{
    static const char *const known[] = {
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    };
    static const char *const unknown[] = {
        CODES_10(1), CODES_10(2), CODES_10(3), CODES_10(4), CODES_10(5),
        CODES_10(6), CODES_10(7), CODES_10(8), CODES_10(9),
    };
    size_t number = (size_t)code;
    if (number < sizeof known / sizeof *known) {
        return known[number];
    }
    return number < 100 ? unknown[number - 10] : "CODE_OTHER";
}
