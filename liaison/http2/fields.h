// SPDX-License-Identifier: Apache-2.0
/* A header block to be sent, as nghttp2 wants it: borrowed names and values in a fixed list. */
#pragma once

#include "liaison/http2/headers.h"

#include <nghttp2/nghttp2.h>

#define FIELDS_MAX 64

/* On the stack of whoever submits; nghttp2 copies names and values when it is submitted. */
struct fields {
    nghttp2_nv list[FIELDS_MAX];
    size_t len;
};

static inline void fields_init(struct fields *fields)
{
    fields->len = 0; /* the list is filled as far as that */
}

/* What exceeds FIELDS_MAX is left out. */
void fields_add(struct fields *fields, struct slice name, struct slice value);
void fields_add_text(struct fields *fields, const char *name, const char *value);
void fields_add_headers(struct fields *fields, const struct headers *headers);
