// SPDX-License-Identifier: Apache-2.0
/*
 * TopN answers as text, in both directions.
 *
 * What a node sends, items apart by blanks:   tags=value@time/version
 *     a=5        one tag "t0" = "a", value 5 (an int), time and version 0
 *     a,b=5@60/2 tags "t0" = "a" and "t1" = "b", 60 ms, version 2
 *     -=1.5      a null tag, a float;  ~7=1  an int tag;  a=nan  a=-0.0  a=-  (no value at all)
 * What comes out, best first:                 tags=value, with :group behind tags unless it is 0
 */
#pragma once

#include "merge/topn.h"

#define LISTS_SIZE 4096

struct lists_body {
    uint8_t bytes[LISTS_SIZE];
    size_t len;
};

/* One list; "|" begins another. */
void lists_write(const char *text, struct lists_body *body);

/* A node's answer, which the batch must take; afterwards its bytes are gone. */
void lists_feed(struct topn_batch *batch, const char *text);

/* All items from topn_next. */
void lists_read(struct topn *topn, char text[LISTS_SIZE]);
