// SPDX-License-Identifier: Apache-2.0
/*
 * Blocks double from 8 KiB to 4 MiB, so a region of n bytes has log n blocks; what does not fit a
 * block of 4 MiB gets one of its own, which is never cached.
 */
#include "merge/arena.h"

#include "frame/spent.h"

#include <assert.h>
#include <stdlib.h>

struct arena_block {
    struct arena_block *next; /* own */
    size_t size;              /* of the whole allocation */
    _Alignas(64) uint8_t bytes[];
};

static uint8_t *block_end(struct arena_block *block)
{
    return (uint8_t *)block + block->size - ARENA_SPARE;
}

static size_t level_size(int level)
{
    return (size_t)1 << (level + ARENA_MIN_BLOCK_LOG2);
}

/* The level whose blocks hold `size` bytes, or -1 when only a block of its own does. */
static int level_of(size_t size)
{
    int level = 0;
    while (level < ARENA_BLOCK_LEVELS && level_size(level) < size) {
        level++;
    }
    return level < ARENA_BLOCK_LEVELS ? level : -1;
}

/* The cache whose map serves blocks of this size; NULL: the heap does. */
static struct arena_cache *mapper(struct arena_cache *cache, size_t size)
{
    bool maps = cache != NULL && cache->map != NULL && size >= ARENA_MAP_MIN;
    return maps ? cache : NULL;
}

static struct arena_block *block_fresh(struct arena_cache *cache, size_t size)
{
    const struct arena_cache *mapped = mapper(cache, size);
    struct arena_block *block = mapped != NULL ? mapped->map(size) : aligned_alloc(64, size);
    if (block == NULL) {
        abort(); /* heap exhaustion is not an error that a query can handle */
    }
    block->size = size;
    ASAN_POISON(block->bytes, size - sizeof *block);
    return block;
}

/* The first block of a level leaves the cache. */
static struct arena_block *take_cached(struct arena_cache *cache, size_t level)
{
    struct arena_block *block = cache->blocks[level];
    cache->blocks[level] = block->next;
    cache->bytes -= block->size;
    charge_drop(cache->charge, CHARGE_CACHE, block->size);
    return block;
}

static struct arena_block *block_new(struct arena_cache *cache, size_t size)
{
    int level = level_of(size);
    if (level < 0) {
        return block_fresh(cache, (size + 4095) & ~(size_t)4095);
    }
    if (cache == NULL || cache->blocks[level] == NULL) {
        return block_fresh(cache, level_size(level));
    }
    return take_cached(cache, (size_t)level);
}

/* `charge` is whose it was. */
static void block_free(struct arena_cache *cache, struct charge *charge, struct arena_block *block)
{
    const struct arena_cache *mapped = mapper(cache, block->size);
    const size_t size = block->size;
    ASAN_UNPOISON(block->bytes, size - sizeof *block);
    if (mapped != NULL) {
        mapped->unmap(block, size);
    } else {
        spent_free(charge, block, size);
    }
}

static void block_drop(struct arena_cache *cache, struct charge *charge, struct arena_block *block)
{
    ASAN_POISON(block->bytes, block->size - sizeof *block);
    int level = level_of(block->size);
    if (level < 0 || cache == NULL || cache->bytes + block->size > cache->limit) {
        block_free(cache, charge, block);
        return;
    }
    block->next = cache->blocks[level];
    cache->blocks[level] = block;
    cache->bytes += block->size;
    charge_add(cache->charge, CHARGE_CACHE, block->size);
}

void arena_init(struct arena *arena, size_t budget, struct arena_cache *cache,
                struct charge *charge)
{
    *arena = (struct arena){.budget = budget, .cache = cache, .charge = charge};
    charge_add(charge, CHARGE_REGION, 0);
}

static void resize(struct arena *arena, size_t capacity)
{
    charge_resize(arena->charge, CHARGE_REGION, arena->capacity, capacity);
    arena->capacity = capacity;
}

static void pop_block(struct arena *arena)
{
    struct arena_block *block = arena->blocks;
    arena->blocks = block->next;
    resize(arena, arena->capacity - block->size);
    block_drop(arena->cache, arena->charge, block);
}

void arena_fini(struct arena *arena)
{
    while (arena->blocks != NULL) {
        pop_block(arena);
    }
    charge_drop(arena->charge, CHARGE_REGION, 0);
    *arena = (struct arena){0};
}

void arena_cache_fini(struct arena_cache *cache)
{
    for (size_t level = 0; level < ARENA_BLOCK_LEVELS; level++) {
        while (cache->blocks[level] != NULL) {
            block_free(cache, cache->charge, take_cached(cache, level));
        }
    }
}

uint8_t *arena_grow(struct arena *arena, size_t size)
{
    const size_t largest = (size_t)1 << ARENA_MAX_BLOCK_LOG2;
    if (size > SIZE_MAX / 2) {
        abort();
    }
    size_t wanted = sizeof(struct arena_block) + size + ARENA_SPARE;
    size_t step = arena->capacity < largest ? arena->capacity : largest;
    struct arena_block *block = block_new(arena->cache, wanted > step ? wanted : step);
    block->next = arena->blocks;
    arena->blocks = block;
    resize(arena, arena->capacity + block->size);
    arena->at = block->bytes;
    arena->end = block_end(block);
    return arena->at;
}

void *arena_alloc(struct arena *arena, size_t size, size_t align)
{
    assert(align <= 64 && (align & (align - 1)) == 0);
    size_t left = (size_t)(arena->end - arena->at);
    size_t gap = (0 - (uintptr_t)arena->at) & (align - 1);
    bool fits = arena->at != NULL && gap <= left && size <= left - gap;
    uint8_t *to = fits ? arena->at + gap : arena_grow(arena, size); /* blocks begin on 64 */
    arena->at = to + size;
    ASAN_UNPOISON(to, size);
    return to;
}

void *arena_zalloc(struct arena *arena, size_t size, size_t align)
{
    return memset(arena_alloc(arena, size, align), 0, size);
}

size_t arena_size(size_t size, size_t count)
{
    size_t total;
    if (__builtin_mul_overflow(size, count, &total)) {
        abort();
    }
    return total;
}

void *arena_zarray(struct arena *arena, size_t size, size_t count, size_t align)
{
    return arena_zalloc(arena, arena_size(size, count), align);
}

struct slice arena_copy(struct arena *arena, struct slice borrowed)
{
    uint8_t *to = arena_alloc(arena, borrowed.len, 1);
    if (borrowed.len > 0) {
        memcpy(to, borrowed.ptr, borrowed.len);
    }
    return slice_of(to, borrowed.len);
}

char *arena_strdup(struct arena *arena, struct slice borrowed)
{
    char *to = arena_alloc(arena, borrowed.len + 1, 1);
    if (borrowed.len > 0) {
        memcpy(to, borrowed.ptr, borrowed.len);
    }
    to[borrowed.len] = '\0';
    return to;
}

struct arena_mark arena_mark(const struct arena *arena)
{
    return (struct arena_mark){.block = arena->blocks, .at = arena->at};
}

void arena_rewind(struct arena *arena, struct arena_mark mark)
{
    while (arena->blocks != mark.block) {
        pop_block(arena);
    }
    arena->at = mark.at;
    arena->end = mark.block == NULL ? NULL : block_end(mark.block);
    if (mark.block != NULL) {
        ASAN_POISON(arena->at, (size_t)(arena->end - arena->at) + ARENA_SPARE);
    }
}

static void *room_alloc(void *owner, size_t size, size_t align)
{
    return arena_alloc(owner, size, align);
}

struct room arena_room(struct arena *arena)
{
    return (struct room){.alloc = room_alloc, .owner = arena};
}
