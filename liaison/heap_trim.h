// SPDX-License-Identifier: Apache-2.0
/*
 * Memory that nobody holds but the allocator keeps: given back to the system when it lasts.
 *
 * The allocator is told to map large blocks (messages) one by one, so that they go with their last
 * use, and to keep small free memory between queries, as fresh pages cost more than the rest of a
 * query's work. What is left when a burst is over is looked for now and then, and trimmed; and when
 * the process has nothing to do, all of it is.
 *
 * Each thread allocates from a heap of its own. A trim finds the free pages inside of every heap,
 * but the free end of a heap is given back by nobody but its own thread, and only on the occasion
 * of freeing a block: so each thread is asked to free one, and its cache (thread_cache.h).
 */
#pragma once

#include "liaison/loop.h"

struct heap_trim;

/* Before the first thread starts: for the whole process. */
void heap_trim_tune(void);

/* Looks from this loop, once a second. */
struct heap_trim *heap_trim_open(struct loop *loop);
/* This loop's thread has a heap, too. Before the looks begin; the loop ends before this does.
 */
void heap_trim_watch(struct heap_trim *trim, struct loop *loop /* borrow */);
void heap_trim_close(struct heap_trim **trim);
