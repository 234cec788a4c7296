// SPDX-License-Identifier: Apache-2.0
/* Heap memory that somebody owns and frees. Never NULL: what may be large is held against a budget
 * before it is taken, so an empty heap is no error of one query; it ends the process. */
#pragma once

#include <stdlib.h>
#include <string.h>

/* What was made elsewhere, and can only be missing for lack of memory. */
static inline void *own_checked(void *made)
{
    if (made == NULL) {
        abort();
    }
    return made;
}

/* `count` zeroed elements; none are one. */
static inline void *own_array(size_t count, size_t size)
{
    return own_checked(calloc(count == 0 ? 1 : count, size));
}

/* The array grown to `count` elements, `count` not 0; NULL = a new one. */
static inline void *own_grow(void *array, size_t count, size_t size)
{
    return own_checked(reallocarray(array, count, size));
}

static inline char *own_text(const char *text)
{
    return own_checked(strdup(text));
}

static inline char *own_text_of(const char *text, size_t len)
{
    return own_checked(strndup(text, len));
}
