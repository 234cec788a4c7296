// SPDX-License-Identifier: Apache-2.0
/* Adding to a line. What a value may not break (quotes, control characters, bytes that are not
 * UTF-8) is escaped here and nowhere else. */
#include "liaison/log_line.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

void log_line_add(struct log_line *line, const char *bytes, size_t len)
{
    if (line->len + len <= line->limit) {
        memcpy(line->text + line->len, bytes, len);
        line->len += len;
    }
}

void log_line_text(struct log_line *line, const char *text)
{
    log_line_add(line, text, strlen(text));
}

size_t log_line_utf8(const char *text, size_t left)
{
    const unsigned char *at = (const unsigned char *)text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t len = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : 4;
    if (len == 1) {
        return 1;
    }
    if (len > left || (len == 4 && at[0] >> 3 != 30)) {
        return 0;
    }
    uint32_t point = at[0] & (0xFFu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if (at[i] >> 6 != 2) {
            return 0;
        }
        point = point << 6 | (at[i] & 0x3Fu);
    }
    const bool good =
        point >= least[len] && point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
    return good ? len : 0;
}

void log_line_escape(struct log_line *line, const char *text, size_t len)
{
    char escape[8];
    for (size_t i = 0; i < len;) {
        const unsigned char byte = (unsigned char)text[i];
        const size_t sequence = log_line_utf8(text + i, len - i);
        if (line->len + 6 > line->limit) {
            return;
        }
        if (byte == '"' || byte == '\\') {
            log_line_add(line, (char[]){'\\', (char)byte}, 2);
        } else if (byte == '\n') {
            log_line_text(line, "\\n");
        } else if (byte < 0x20 || byte == 0x7F) {
            log_line_add(line, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", byte));
        } else if (sequence == 0) {
            log_line_text(line, "\\ufffd");
        } else {
            log_line_add(line, text + i, sequence);
        }
        i += MAX(sequence, 1);
    }
}
