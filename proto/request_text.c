// SPDX-License-Identifier: Apache-2.0
#include "proto/request_text.h"

#include <stdarg.h>
#include <stdio.h>

bool request_text_fail(struct error *err, const char *fmt, ...)
{
    char text[sizeof err->text - 100];
    va_list arguments;
    va_start(arguments, fmt);
    int len = vsnprintf(text, sizeof text, fmt, arguments);
    va_end(arguments);
    bool cut = len < 0 || (size_t)len >= sizeof text;
    return error_set(err, ERROR_UNKNOWN,
                     "code: STATUS_INTERNAL_ERROR, msg: %s%s: invalid query message", text,
                     cut ? "..." : "");
}
