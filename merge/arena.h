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

#include "frame/asan.h"
#include "frame/charge.h"
#include "frame/decode.h"
#include "frame/slice.h"

struct arena_block;

/* Block sizes are powers of two, so that what one query gives back fits the next one's need. */
#define ARENA_MIN_BLOCK_LOG2 13
#define ARENA_MAX_BLOCK_LOG2 22
#define ARENA_BLOCK_LEVELS   (ARENA_MAX_BLOCK_LOG2 - ARENA_MIN_BLOCK_LOG2 + 1)
#define ARENA_MAP_MIN        ((size_t)2 << 20)

/* Blocks kept between queries by one executor, at most `limit` bytes of them.
 *
 * `map` and `unmap` are where fresh blocks of ARENA_MAP_MIN bytes and more come from and go to: an
 * owner that maps huge pages there saves most of the price of fresh memory. NULL: the heap. Sizes
 * are multiples of 4096; what map returns starts on one. */
struct arena_cache {
    struct arena_block *blocks[ARENA_BLOCK_LEVELS]; /* own */
    size_t bytes;
    size_t limit;
    struct charge *charge;     /* borrow: outlives it; NULL = not counted. Kind CACHE */
    void *(*map)(size_t size); /* never NULL */
    void (*unmap)(void *block, size_t size);
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
void *arena_zarray(struct arena *arena, size_t size, size_t count, size_t align);
/* size * count; ends the program when that is more than there can be. */
size_t arena_size(size_t size, size_t count);
#define arena_new(arena, type) ((type *)arena_zalloc((arena), sizeof(type), _Alignof(type)))
#define arena_array(arena, type, count)                                                            \
    ((type *)arena_zarray((arena), sizeof(type), (count), _Alignof(type)))
/* The same without zeroes, for arrays that are filled at once. */
#define arena_array_raw(arena, type, count)                                                        \
    ((type *)arena_alloc((arena), arena_size(sizeof(type), (count)), _Alignof(type)))

/* Everything allocated after the mark is given up; its blocks stay for reuse. */
struct arena_mark arena_mark(const struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);

/* A new block with room for `size` bytes; where they begin. */
uint8_t *arena_grow(struct arena *arena, size_t size);

/* A copy of any bytes, to the byte. */
struct slice arena_copy(struct arena *arena, struct slice borrowed);
/* A copy with a terminating NUL. */
char *arena_strdup(struct arena *arena, struct slice borrowed);

/* The copy in copy-on-keep, for bytes that have 16 readable bytes behind them (those of messages
 * and regions do): moved by 16-byte loads and stores, one for a short value. */
static inline struct slice arena_keep(struct arena *arena, struct slice borrowed)
{
#if ASAN /* free bytes are poisoned, so that a use after rewind is reported */
    return arena_copy(arena, borrowed);
#else
    uint8_t *to = arena->at;
    if (borrowed.len >= (size_t)(arena->end - to)) { /* also the first one, be it empty */
        to = arena_grow(arena, borrowed.len);
    }
    arena->at = to + borrowed.len;
    memcpy(to, borrowed.ptr, ARENA_SPARE);
    for (size_t done = ARENA_SPARE; __builtin_expect(done < borrowed.len, 0); done += ARENA_SPARE) {
        memcpy(to + done, borrowed.ptr + done, ARENA_SPARE);
    }
    return slice_of(to, borrowed.len);
#endif
}

static inline bool arena_over(const struct arena *arena)
{
    return arena->capacity > arena->budget;
}

/* Memory for a decoder. */
struct room arena_room(struct arena *arena);
