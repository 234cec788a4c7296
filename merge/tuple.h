// SPDX-License-Identifier: Apache-2.0
/*
 * The key of a row spelled as bytes: two rows are of one group when their bytes are equal.
 *
 *     null     kind
 *     numbers  kind, 8 bytes
 *     others   kind, 4 bytes of length, bytes
 *
 * What is spelled is a cell's kind and value, not the type of the column that it came from: a
 * string is the same key whether one node sent it as a string and another as a TagValue message,
 * and null is a key of its own, not 0 or "". Floats are equal as numbers are: -0 is 0, NaN is NaN.
 *
 * Keys of cells that lie somewhere are hashed and compared where they lie, and spelled once, when
 * their group is made. Keys that are better put together first are spelled into a buffer.
 */
#pragma once

#include "merge/cell.h"

/* The cells spelled into the region. */
struct slice tuple_spell(const struct cell *cells, size_t count, struct arena *arena);

/* Are the cells spelled like this? As many cells as were spelled. */
bool tuple_is(struct slice spelled, const struct cell *cells);

/* A cell's part of a hash that is equal for cells that are spelled alike, and a hash with the next
 * cell's part added. */
uint64_t tuple_hash(const struct cell *cell, uint64_t seed);
static inline uint64_t tuple_mix(uint64_t hash, uint64_t next)
{
    uint64_t mixed = (hash ^ next) * UINT64_C(0x9E3779B97F4A7C15);
    return mixed ^ mixed >> 32;
}

/* A buffer that is used again and again, for the keys of one row, or of several in a row. */
struct tuple {
    struct arena *arena; /* borrow: outlives the tuple */
    uint8_t *bytes;      /* borrow: region; moves when it grows */
    size_t len;
    size_t capacity;
};

void tuple_init(struct tuple *tuple, struct arena *arena);

static inline void tuple_clear(struct tuple *tuple)
{
    tuple->len = 0;
}

/* Spells one more cell. */
void tuple_put(struct tuple *tuple, const struct cell *cell);

/* What was spelled since the tuple had this length. Valid until the next put. */
static inline struct slice tuple_since(const struct tuple *tuple, size_t start)
{
    return slice_of(tuple->bytes + start, tuple->len - start);
}

/* Takes the next cell off spelled bytes, which it borrows. */
struct cell tuple_take(struct slice *spelled);
