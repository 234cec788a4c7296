// SPDX-License-Identifier: Apache-2.0
/*
 * What went wrong, in the words and with the code that the client will see.
 *
 * The codes are the gRPC status codes: an error is born with its final status, so that no floor
 * has to translate it. The text says what was found and what was expected, with numbers.
 */
#pragma once

#include <stdbool.h>

enum error_code {
    ERROR_NONE = 0,
    ERROR_CANCELLED = 1,
    ERROR_UNKNOWN = 2,
    ERROR_INVALID_ARGUMENT = 3,
    ERROR_DEADLINE_EXCEEDED = 4,
    ERROR_NOT_FOUND = 5,
    ERROR_ALREADY_EXISTS = 6,
    ERROR_PERMISSION_DENIED = 7,
    ERROR_RESOURCE_EXHAUSTED = 8,
    ERROR_FAILED_PRECONDITION = 9,
    ERROR_ABORTED = 10,
    ERROR_OUT_OF_RANGE = 11,
    ERROR_UNIMPLEMENTED = 12,
    ERROR_INTERNAL = 13,
    ERROR_UNAVAILABLE = 14,
    ERROR_DATA_LOSS = 15,
    ERROR_UNAUTHENTICATED = 16,
};

struct error {
    enum error_code code;
    char text[2048]; /* always terminated; a longer text is cut and ends in "..." */
};

#define MUST_CHECK __attribute__((warn_unused_result))

/* Fills err (NULL is allowed) and returns false, so that failing is one line:
 * return error_set(err, ERROR_DATA_LOSS, "column %zu: ...", i); */
bool error_set(struct error *err, enum error_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "<prefix>: " before the text that is there, keeps the code; returns false. */
bool error_prefix(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "INVALID_ARGUMENT" for 3; "CODE_17" style text for numbers that gRPC does not know. */
const char *error_code_name(enum error_code code);
