// SPDX-License-Identifier: Apache-2.0
/*
 * A region: many allocations, one release.
 *
 * Values that must outlive the frame they came in are copied ("kept") into a few large,
 * geometrically growing blocks. Allocation never fails; the budget is soft: past it arena_over
 * turns true and stays so, and is looked at once a row, so the overshoot is one row at most.
 * Blocks of a finished query are handed back to a cache, from which the next query takes them.
 *
 *     block   [ header | kept kept kept … | free, 16 spare bytes at the end ]
 *
 * The spare bytes at the end of each block (and behind every message) let arena_keep copy short
 * values by 16 bytes at a time.
 */
#pragma once

#include "frame/charge.h"
#include "frame/decode.h"
#include "frame/slice.h"

struct arena_block;

/* Blocks kept between queries by one executor, at most `limit` bytes of them. */
struct arena_cache {
    struct arena_block *blocks; /* own */
    size_t bytes;
    size_t limit;
};

struct arena {
    uint8_t *at;                /* borrow: next free byte of the newest block */
    uint8_t *end;               /* borrow: its last byte that may be given out */
    struct arena_block *blocks; /* own, newest first */
    struct arena_cache *cache;  /* borrow: outlives the arena; NULL = plain malloc */
    struct charge *charge;      /* borrow: outlives the arena; NULL = not counted */
    size_t capacity;            /* sum of the blocks */
    size_t budget;
};

struct arena_mark {
    struct arena_block *block;
    uint8_t *at;
};

#define ARENA_SPARE 16

void arena_init(struct arena *arena, size_t budget, struct arena_cache *cache,
                struct charge *charge);
/* Gives all blocks back to the cache or the heap. A zeroed arena is fine. */
void arena_fini(struct arena *arena);
void arena_cache_fini(struct arena_cache *cache);

/* Uninitialised memory, never NULL; align is a power of two of at most 64. */
void *arena_alloc(struct arena *arena, size_t size, size_t align);
void *arena_zalloc(struct arena *arena, size_t size, size_t align);
#define arena_new(arena, type) ((type *)arena_zalloc((arena), sizeof(type), _Alignof(type)))
#define arena_array(arena, type, count)                                                            \
    ((type *)arena_zalloc((arena), sizeof(type) * (count), _Alignof(type)))

/* Everything allocated after the mark is given up; its blocks stay for reuse. */
struct arena_mark arena_mark(const struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);

/* The slow half of arena_keep: a new block. */
uint8_t *arena_grow(struct arena *arena, size_t size);

/* Copies borrowed bytes. The source must have 16 readable bytes behind it (messages and regions
 * have): short values are copied whole words at a time. */
static inline struct slice arena_keep(struct arena *arena, struct slice borrowed)
{
    uint8_t *to = arena->at;
    if (borrowed.len > (size_t)(arena->end - to)) {
        to = arena_grow(arena, borrowed.len);
    }
    arena->at = to + borrowed.len;
    if (borrowed.len <= 16) {
        memcpy(to, borrowed.ptr, 16);
    } else {
        memcpy(to, borrowed.ptr, borrowed.len);
    }
    return slice_of(to, borrowed.len);
}

static inline bool arena_over(const struct arena *arena)
{
    return arena->capacity > arena->budget;
}

/* Memory for a decoder. */
struct room arena_room(struct arena *arena);
