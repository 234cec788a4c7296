// SPDX-License-Identifier: Apache-2.0
/*
 * What rows are sorted by: a timestamp, or the index key of a tag's value.
 *
 * The storage's index keys are byte strings: an int is 8 big-endian bytes with the sign flipped, a
 * float its order-preserving image (-0 = +0), a string or binary its bytes, a timestamp its
 * nanoseconds as an int, a string array its elements joined by newlines, an int array its images
 * in a row. Null has no key and comes before the empty one.
 *
 * `head` holds the first 8 bytes, so most comparisons are one; the rest decides ties.
 */
#pragma once

#include "merge/cell.h"

struct key {
    uint64_t head;      /* the first 8 bytes, big-endian, zero-padded; 0 for null */
    const uint8_t *ptr; /* borrow: the whole key when len > 8 */
    size_t len;         /* of the whole key */
    bool present;       /* false: null, and the rest 0 */
};

static inline struct key key_of_int(int64_t value)
{
    return (struct key){.head = (uint64_t)value ^ (uint64_t)1 << 63, .len = 8, .present = true};
}

struct key key_of_bytes(struct slice bytes);

/* Arrays are spelled out in the region; everything else borrows the cell's bytes. */
struct key key_of_cell(const struct cell *cell, struct arena *arena);

int key_compare_rest(const struct key *a, const struct key *b);

/* -1, 0, 1. */
static inline int key_compare(const struct key *a, const struct key *b)
{
    if (a->head != b->head) {
        return a->head < b->head ? -1 : 1;
    }
    if (a->len == 8 && b->len == 8) {
        return 0;
    }
    return key_compare_rest(a, b);
}
