// SPDX-License-Identifier: Apache-2.0
/*
 * Keeping a million short strings: in a region whose blocks were used before, in a region of fresh
 * memory, and with malloc, memcpy and free for each. On all sides the resulting slices are stored;
 * the ratios, printed in one run, are what counts. "one text" copies the same bytes each time,
 * "column" reads each string from its own place, as out of a frame.
 */
#include "merge/arena.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define COUNT ((size_t)1000000)
#define RUNS  7

static size_t text_len = 10; /* another by the first argument, so it is a variable for all sides */
static size_t stride;        /* from one string to the next: 0 or text_len */
static const uint8_t *texts; /* own */
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

static void run_arena(struct arena_cache *cache)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, cache, NULL);
    for (size_t i = 0; i < COUNT; i++) {
        kept[i] = arena_keep(&arena, slice_of(texts + i * stride, text_len));
    }
    arena_fini(&arena);
}

static struct arena_cache blocks = {.limit = (size_t)256 << 20};

static void run_reused(void)
{
    run_arena(&blocks);
}

static void run_fresh(void)
{
    run_arena(NULL);
}

static double best_of(void (*run)(void))
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < RUNS; i++) {
        malloc_trim(0); /* what was freed goes back to the system: fresh memory is fresh */
        uint64_t start = now();
        run();
        uint64_t took = now() - start;
        best = took < best ? took : best;
    }
    return (double)best;
}

static void bench(const char *name)
{
    double single = best_of(run_malloc);
    double reused = best_of(run_reused);
    double fresh = best_of(run_fresh);
    printf("%-8s %zu strings of %zu bytes, best of %d: malloc, copy, free %5.2f ns each; region on "
           "reused blocks %5.2f ns, %5.2f times faster; on fresh memory %5.2f ns, %5.2f times\n",
           name, COUNT, text_len, RUNS, single / (double)COUNT, reused / (double)COUNT,
           single / reused, fresh / (double)COUNT, single / fresh);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        text_len = strtoul(argv[1], NULL, 10);
    }
    uint8_t *bytes = malloc(COUNT * text_len + ARENA_SPARE);
    kept = malloc(COUNT * sizeof *kept);
    if (bytes == NULL || kept == NULL) {
        abort();
    }
    for (size_t i = 0; i < COUNT * text_len + ARENA_SPARE; i++) {
        bytes[i] = (uint8_t)('a' + i % 26);
    }
    texts = bytes;
    memset(kept, 0, COUNT * sizeof *kept);
    bench("one text");
    stride = text_len;
    bench("column");
    arena_cache_fini(&blocks);
    free(bytes);
    free(kept);
    return EXIT_SUCCESS;
}
