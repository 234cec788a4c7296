// SPDX-License-Identifier: Apache-2.0
/*
 * Keeping a million short strings in a region, beside malloc, memcpy and free for each. On all
 * sides the resulting slices are stored; the ratios of one run are what counts.
 *
 * Like is compared with like. Where memory is there already, malloc has a grown heap and the region
 * has its last blocks again, or new ones from that heap. On fresh memory both begin with what the
 * system has not given yet: page by page, or in huge pages as an executor may map its blocks. "one
 * text" copies the same bytes each time, "column" each string from its own place, as out of a
 * frame.
 */
#include "merge/arena.h"
#include "tests/bench/held.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define COUNT ((size_t)1000000)
#define RUNS  7
#define HUGE  ((size_t)2 << 20)

static size_t text_len = 10; /* the first argument: a variable for all sides */
static size_t stride;        /* from one string to the next: 0 or text_len */
static uint8_t *texts;       /* own */
static struct slice *kept;   /* own */

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void run_malloc(void)
{
    for (size_t i = 0; i < COUNT; i++) {
        uint8_t *copy = malloc(text_len);
        if (copy == NULL) {
            abort();
        }
        memcpy(copy, texts + i * stride, text_len);
        kept[i] = slice_of(copy, text_len);
    }
    for (size_t i = 0; i < COUNT; i++) {
        free((void *)(uintptr_t)kept[i].ptr);
    }
}

static void run_region(struct arena_cache *cache)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, cache, NULL);
    for (size_t i = 0; i < COUNT; i++) {
        kept[i] = arena_keep(&arena, slice_of(texts + i * stride, text_len));
    }
    arena_fini(&arena);
}

static struct arena_cache used_blocks = {.limit = (size_t)256 << 20};

static void tell_held(void)
{
    struct arena arena;
    struct held held;
    held_begin(&held);
    arena_init(&arena, SIZE_MAX, NULL, &held.charge);
    for (size_t i = 0; i < COUNT; i++) {
        kept[i] = arena_keep(&arena, slice_of(texts + i * stride, text_len));
    }
    held_look(&held);
    arena_fini(&arena);
    held_tell(&held);
}

static void run_used(void)
{
    run_region(&used_blocks);
}

static void run_heap(void)
{
    run_region(NULL);
}

/* Maps more than asked for and gives back what does not lie on huge pages. */
static void *map_huge(size_t size)
{
    uint8_t *all =
        mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) {
        abort();
    }
    size_t lead = (0 - (uintptr_t)all) & (HUGE - 1);
    if (lead > 0) {
        munmap(all, lead);
    }
    munmap(all + lead + size, HUGE - lead);
    madvise(all + lead, size, MADV_HUGEPAGE);
    return all + lead;
}

static void unmap(void *block, size_t size)
{
    munmap(block, size);
}

static void run_huge(void)
{
    struct arena_cache cache = {.map = map_huge, .unmap = unmap};
    run_region(&cache);
}

/* ns for each string */
static double best_of(void (*run)(void), bool fresh)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < (held_is_all() ? 1 : RUNS); i++) {
        if (fresh) {
            malloc_trim(0); /* what was freed goes back to the system */
        }
        uint64_t start = now();
        run();
        uint64_t took = now() - start;
        best = took < best ? took : best;
    }
    return (double)best / (double)COUNT;
}

static void tell(const char *what, double took, double single)
{
    printf("  %-40s %6.2f ns  %6.2f ns  %6.2f times\n", what, single, took, single / took);
}

static void bench(const char *name)
{
    double single = best_of(run_malloc, false);
    double used = best_of(run_used, false);
    double heap = best_of(run_heap, false);
    double single_fresh = best_of(run_malloc, true);
    double pages = best_of(run_heap, true);
    double huge = best_of(run_huge, true);
    printf("%-9s %2zu bytes, best of %d %25s %10s\n", name, text_len, RUNS, "malloc, copy, free",
           "region");
    tell("reused blocks", used, single);
    tell("new blocks of the heap", heap, single);
    tell("fresh memory, page by page", pages, single_fresh);
    tell("fresh memory, huge pages", huge, single_fresh);
    tell("fresh huge pages, malloc's heap grown", huge, single);
    tell_held();
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        text_len = strtoul(argv[1], NULL, 10);
    }
    size_t size = COUNT * text_len + ARENA_SPARE;
    texts = malloc(size);
    kept = calloc(COUNT, sizeof *kept);
    if (texts == NULL || kept == NULL) {
        abort();
    }
    for (size_t i = 0; i < size; i++) {
        texts[i] = (uint8_t)('a' + i % 26);
    }
    memset(kept, 1, COUNT * sizeof *kept); /* its pages are there before the first run */
    bench("one text");
    stride = text_len;
    bench("column");
    arena_cache_fini(&used_blocks);
    free(texts);
    free(kept);
    return held_verdict();
}
