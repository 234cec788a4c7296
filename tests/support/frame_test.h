// SPDX-License-Identifier: Apache-2.0
/*
 * What tests of frames share: a room that frees all at once, bytes placed so that a sanitizer sees
 * the first byte read too far, and views read or compared cell by cell.
 */
#pragma once

#include "frame/decode.h"

/* A room whose blocks are single allocations, so that a read past one is seen. */
struct test_room {
    struct room room; /* pass &x.room to decode_view */
    void **blocks;    /* own */
    size_t count;
    size_t bytes; /* sum of all sizes asked for */
};

void test_room_init(struct test_room *room);
void test_room_fini(struct test_room *room);

/* A copy at `shift` bytes behind a multiple of 16, followed by exactly the 16 readable bytes that
 * decoders may look at; those are not zero, so that nothing may depend on them. */
struct placed {
    void *block; /* own: free() it */
    struct slice bytes;
};
struct placed place_bytes(struct slice bytes, size_t shift);

/* "00 56 4652" → bytes, at most `max`; blanks are skipped. Asserts on anything else. */
size_t hex_bytes(const char *hex, uint8_t *into, size_t max);

/* Reads each byte of each cell, and of a constant's first and last row; the sum is of no meaning,
 * only of use against optimisers. */
uint64_t view_read_all(const struct view *view);

/* NULL if both show the same columns and cells, else what differs first. Constants and plain
 * columns are equal if their rows are; so are columns whose null counts differ by that alone. */
const char *view_difference(const struct view *a, const struct view *b);
