// SPDX-License-Identifier: Apache-2.0
#include "proto/base64.h"

#include <stdlib.h>

size_t base64_bound(size_t len)
{
    return len / 4 * 3 + 3;
}

/* 0..63, or 64 for a character of neither alphabet. */
static unsigned digit(uint8_t c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    if (c == '+' || c == '-') {
        return 62;
    }
    return c == '/' || c == '_' ? 63 : 64;
}

static bool strip_padding(struct slice *text)
{
    size_t padding = 0;
    while (padding < 2 && text->len > 0 && text->ptr[text->len - 1] == '=') {
        text->len--;
        padding++;
    }
    /* Padding that is there has to fill up the last four characters. */
    return padding == 0 || (text->len + padding) % 4 == 0;
}

bool base64_decode(struct slice text, uint8_t *bytes, size_t *len_out)
{
    if (!strip_padding(&text) || text.len % 4 == 1) {
        return false;
    }
    uint32_t bits = 0;
    unsigned held = 0;
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned value = digit(text.ptr[i]);
        if (value > 63) {
            return false;
        }
        bits = bits << 6 | value;
        held += 6;
        if (held >= 8) {
            held -= 8;
            bytes[len++] = (uint8_t)(bits >> held);
        }
    }
    *len_out = len;
    return true;
}

char *base64_encode(struct slice bytes)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    char *text = calloc(1, (bytes.len + 2) / 3 * 4 + 1);
    if (text == NULL) {
        abort();
    }
    char *at = text;
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        uint32_t bits = (uint32_t)bytes.ptr[i] << 16;
        bits |= left > 1 ? (uint32_t)bytes.ptr[i + 1] << 8 : 0;
        bits |= left > 2 ? bytes.ptr[i + 2] : 0;
        *at++ = digits[bits >> 18];
        *at++ = digits[bits >> 12 & 63];
        *at++ = digits[left > 1 ? bits >> 6 & 63 : 64];
        *at++ = digits[left > 2 ? bits & 63 : 64];
    }
    return text;
}
