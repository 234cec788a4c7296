// SPDX-License-Identifier: Apache-2.0
/*
 * glibc empties a thread's cache when the thread ends, and never before. So another thread is made
 * for that: this one takes all out of its own cache, by asking for as many blocks of every size as
 * can be in it, and the other one frees them and ends.
 */
#include "liaison/thread_cache.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#define SIZES     64 /* 24, 40, 56 … 1032 bytes */
#define SIZE_STEP 16
#define SIZE_MIN  24
#define DEPTH     7 /* blocks of each of them that a thread keeps at most */
#define BLOCKS    ((size_t)SIZES * DEPTH)
#define STACK     ((size_t)64 << 10)

struct cached {
    void *blocks[BLOCKS]; /* own */
};

static void *free_all(void *owner)
{
    struct cached *cached = owner;
    for (size_t i = 0; i < BLOCKS; i++) {
        free(cached->blocks[i]);
    }
    return NULL;
}

void thread_cache_drop(void)
{
    struct cached cached;
    pthread_t thread;
    pthread_attr_t attributes;
    for (size_t i = 0; i < BLOCKS; i++) {
        cached.blocks[i] = malloc(SIZE_MIN + i / DEPTH * SIZE_STEP);
    }
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    if (pthread_create(&thread, &attributes, free_all, &cached) == 0) {
        pthread_join(thread, NULL);
    } else {
        free_all(&cached);
    }
    pthread_attr_destroy(&attributes);
}
