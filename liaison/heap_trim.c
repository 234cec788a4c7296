// SPDX-License-Identifier: Apache-2.0
/* Resident minus given out; pages of files, which are the program's own, do not count. */
#include "liaison/heap_trim.h"

#include "liaison/container_of.h"
#include "liaison/own.h"
#include "liaison/thread_cache.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS     1000
#define LOOKS       2                 /* in which there was too much, one after the other */
#define SPARE_BYTES ((size_t)4 << 20) /* and a quarter of what is held */
/* A look at a process that had nothing to do: it took less of a processor since the last. */
#define QUIET_NS    20000000
#define QUIET_LOOKS 6 /* one after the other: longer than queries keep memory for the next ones */
/* Just below the blocks of responses: what they do not reuse (query/block_pool.h) must leave no
 * holes, as one thread takes them and another gives them up. */
#define MAP_BYTES (192 << 10)
/* A heap's free end stays when it is smaller, and otherwise so much of it. */
#define TOP_BYTES (8 << 20)
#define PAD_BYTES (128 << 10)
#define END_BYTES (96 << 10) /* freeing so large a block makes the allocator look at the end */

struct watched {
    struct loop_task task;
    struct loop *loop; /* borrow */
};

struct heap_trim {
    struct loop_timer timer;
    unsigned looks;
    unsigned quiet;
    bool frees_ends; /* since the last look */
    uint64_t worked; /* by all threads, at the last look */
    size_t watched_count;
    struct watched *watched; /* own */
};

static void keep_ends(int most, int least)
{
    mallopt(M_TRIM_THRESHOLD, most);
    mallopt(M_TOP_PAD, least);
}

void heap_trim_tune(void)
{
    mallopt(M_MMAP_THRESHOLD, MAP_BYTES);
    keep_ends(TOP_BYTES, PAD_BYTES);
}

/* The pages in memory that no file lies behind; 0: cannot be read. */
static size_t resident(void)
{
    char line[128] = "";
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) {
        return 0;
    }
    const bool read = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    char *at = line;
    (void)strtoull(at, &at, 10); /* all that is mapped */
    const unsigned long long pages = strtoull(at, &at, 10);
    const unsigned long long shared = strtoull(at, &at, 10);
    return read && pages > shared ? (size_t)(pages - shared) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

static bool is_too_much(void)
{
    const struct mallinfo2 info = mallinfo2();
    const size_t held = info.uordblks + info.hblkhd;
    return resident() > held + held / 4 + SPARE_BYTES;
}

static bool is_quiet(struct heap_trim *trim)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    const uint64_t before = trim->worked;
    trim->worked = (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
    return trim->worked - before < QUIET_NS;
}

/* The free end of the calling thread's heap goes, as far as the present limits let it. */
static void free_end(void)
{
    void *volatile block = malloc(END_BYTES);
    free(block);
}

static void on_watched(struct loop_task *task)
{
    (void)task;
    thread_cache_drop();
    free_end();
}

/* The limits are plain numbers that every thread reads when it frees: whichever it sees is fine. */
static void free_ends(struct heap_trim *trim)
{
    keep_ends(0, 0);
    for (size_t i = 0; i < trim->watched_count; i++) {
        loop_post(trim->watched[i].loop, &trim->watched[i].task);
    }
    thread_cache_drop();
    free_end();
}

static bool is_due(struct heap_trim *trim)
{
    trim->looks = is_too_much() ? trim->looks + 1 : 0;
    trim->quiet = is_quiet(trim) ? trim->quiet + 1 : 0;
    if (trim->looks == LOOKS) {
        trim->looks = 0;
        return true;
    }
    return trim->quiet == QUIET_LOOKS;
}

/* It takes until the next look: the ends first, as each thread comes to it, then what is inside. */
static void on_look(struct loop_timer *timer)
{
    struct heap_trim *trim = container_of(timer, struct heap_trim, timer);
    const bool due = is_due(trim);
    if (trim->frees_ends) {
        keep_ends(TOP_BYTES, PAD_BYTES);
        malloc_trim(0);
        trim->frees_ends = false;
    } else if (due) {
        free_ends(trim);
        trim->frees_ends = true;
    }
    loop_timer_start(timer, LOOK_MS);
}

struct heap_trim *heap_trim_open(struct loop *loop)
{
    struct heap_trim *trim = own_array(1, sizeof *trim);
    loop_timer_init(&trim->timer, loop, on_look);
    loop_timer_start(&trim->timer, LOOK_MS);
    return trim;
}

void heap_trim_watch(struct heap_trim *trim, struct loop *loop)
{
    const size_t at = trim->watched_count++;
    trim->watched = own_grow(trim->watched, trim->watched_count, sizeof *trim->watched);
    trim->watched[at] = (struct watched){.task.run = on_watched, .loop = loop};
}

void heap_trim_close(struct heap_trim **trim)
{
    struct heap_trim *closed = *trim;
    *trim = NULL;
    if (closed != NULL) {
        loop_timer_fini(&closed->timer);
        free(closed->watched);
        free(closed);
    }
}
