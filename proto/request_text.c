// SPDX-License-Identifier: Apache-2.0
#include "proto/request_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Where a cut text's last character begins: it may not be whole. */
static size_t start_of_last_character(const char *text)
{
    size_t at = strlen(text);
    while (at > 0 && ((unsigned char)text[--at] & 0xC0) == 0x80) {
    }
    return at;
}

bool request_text_fail(struct error *err, const char *fmt, ...)
{
    char text[sizeof err->text - 100]; /* leaves room for what stands around it */
    va_list arguments;
    va_start(arguments, fmt);
    int len = vsnprintf(text, sizeof text, fmt, arguments);
    va_end(arguments);
    bool cut = len < 0 || (size_t)len >= sizeof text;
    if (cut) {
        text[start_of_last_character(text)] = '\0';
    }
    return error_set(err, ERROR_UNKNOWN,
                     "code: STATUS_INTERNAL_ERROR, msg: %s%s: invalid query message", text,
                     cut ? "..." : "");
}

bool request_text_keeps(enum error_code code)
{
    return code == ERROR_RESOURCE_EXHAUSTED || code == ERROR_DEADLINE_EXCEEDED ||
           code == ERROR_CANCELLED || code == ERROR_UNIMPLEMENTED || code == ERROR_UNAVAILABLE ||
           code == ERROR_FAILED_PRECONDITION;
}
