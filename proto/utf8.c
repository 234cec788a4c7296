// SPDX-License-Identifier: Apache-2.0
#include "proto/utf8.h"

#include <stdlib.h>

/* By the table of well-formed byte sequences (Unicode, table 3-7): what the first byte allows for
 * the second one; all further ones are 80..BF. */
struct lead {
    uint8_t first; /* of this range of first bytes */
    uint8_t last;
    uint8_t len;
    uint8_t low; /* of the second byte */
    uint8_t high;
};

static const struct lead leads[] = {
    {0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF}, {0xE1, 0xEC, 3, 0x80, 0xBF},
    {0xED, 0xED, 3, 0x80, 0x9F}, {0xEE, 0xEF, 3, 0x80, 0xBF}, {0xF0, 0xF0, 4, 0x90, 0xBF},
    {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F},
};

/* What follows the first byte is what that one allows. */
static bool follows(const struct lead *lead, struct slice text)
{
    if (text.len < lead->len || text.ptr[1] < lead->low || text.ptr[1] > lead->high) {
        return false;
    }
    for (size_t i = 2; i < lead->len; i++) {
        if ((text.ptr[i] & 0xC0) != 0x80) {
            return false;
        }
    }
    return true;
}

/* The length of the sequence that begins here, 0 = malformed. */
static size_t sequence(struct slice text)
{
    for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++) {
        if (text.ptr[0] >= leads[i].first && text.ptr[0] <= leads[i].last) {
            return follows(&leads[i], text) ? leads[i].len : 0;
        }
    }
    return 0;
}

/* How many of the first bytes are ASCII, eight at a time. */
static size_t ascii(struct slice text)
{
    size_t i = 0;
    for (; text.len - i >= 8; i += 8) {
        uint64_t word;
        memcpy(&word, text.ptr + i, sizeof word);
        if ((word & UINT64_C(0x8080808080808080)) != 0) {
            break;
        }
    }
    while (i < text.len && text.ptr[i] < 0x80) {
        i++;
    }
    return i;
}

bool utf8_valid(struct slice text)
{
    while (text.len > 0) {
        size_t step = ascii(text);
        if (step == 0) {
            step = sequence(text);
        }
        if (step == 0) {
            return false;
        }
        text.ptr += step;
        text.len -= step;
    }
    return true;
}

char *utf8_replace(struct slice text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    char *clean = calloc(1, 3 * text.len + 1);
    if (clean == NULL) {
        abort();
    }
    char *to = clean;
    while (text.len > 0) {
        size_t step = ascii(text);
        step = step > 0 ? step : sequence(text);
        memcpy(to, step > 0 ? (const char *)text.ptr : replacement, step > 0 ? step : 3);
        to += step > 0 ? step : 3;
        step = step > 0 ? step : 1;
        text.ptr += step;
        text.len -= step;
    }
    return clean;
}
