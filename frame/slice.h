// SPDX-License-Identifier: Apache-2.0
/* Borrowed bytes: whoever hands out a slice says whose bytes they are and how long they stay. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
    const uint8_t *ptr; /* borrow */
    size_t len;
};

static inline struct slice slice_of(const void *ptr, size_t len)
{
    return (struct slice){.ptr = ptr, .len = len};
}

static inline struct slice slice_str(const char *text)
{
    return slice_of(text, strlen(text));
}

static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* For printf("%.*s"): at most 200 bytes, so that no foreign text fills a message. */
#define SLICE_ARG(s) (int)((s).len < 200 ? (s).len : 200), (const char *)(s).ptr
