// SPDX-License-Identifier: Apache-2.0
/*
 * The header fields of one stream, or the trailers of one answer: copies in the order they came,
 * back to back in one growing buffer.
 *
 *     | name length, 4 bytes | value length, 4 bytes | name | value | next field …
 *
 * HPACK lets one byte stand for a field of 4 KB, so what is kept is bounded: fields beyond the
 * limit are left out and the mark says so.
 */
#pragma once

#include "frame/charge.h"
#include "frame/slice.h"

struct headers {
    uint8_t *bytes; /* own */
    size_t len;
    size_t capacity;
    size_t limit;          /* of len */
    struct charge *charge; /* borrow: outlives it; may be NULL. The buffer is of kind WIRE */
    bool overflowed;       /* something was left out */
};

struct headers_field {
    struct slice name;
    struct slice value;
};

void headers_init(struct headers *headers, size_t limit, struct charge *charge);
void headers_fini(struct headers *headers);

/* Forgets all fields. */
void headers_clear(struct headers *headers);

/* Copies both. Slices handed out before are invalid afterwards. */
void headers_add(struct headers *headers, struct slice name, struct slice value);

/* Value of the first field of that name; ptr NULL when absent. Names are compared as they are:
 * HTTP/2 has lower case only. Borrowed until the next add. */
struct slice headers_get(const struct headers *headers, const char *name);

/* Walks all fields: start with *at = 0; false at the end. */
bool headers_next(const struct headers *headers, size_t *at, struct headers_field *field_out);
