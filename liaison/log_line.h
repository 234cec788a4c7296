// SPDX-License-Identifier: Apache-2.0
/* A log line in the making: a buffer that is never overrun and never grows. */
#pragma once

#include <stddef.h>

#define LOG_LINE_SIZE 8192

struct log_line {
    char text[LOG_LINE_SIZE];
    size_t len;
    size_t limit; /* nothing is added beyond it */
};

/* All of the bytes, or none when they do not fit. */
void log_line_add(struct log_line *line, const char *bytes, size_t len);
void log_line_text(struct log_line *line, const char *text);
/* As the inside of a JSON string; as much as fits. */
void log_line_escape(struct log_line *line, const char *text, size_t len);
/* Length of the UTF-8 sequence that begins here; 0 = these bytes are none. `left` is at least 1. */
size_t log_line_utf8(const char *text, size_t left);
