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
 * of freeing a block: so each thread is asked to free one, and its cache (hoard.h).
 */
#pragma once

#include "liaison/loop.h"

struct slack;

/* Before the first thread starts: for the whole process. */
void slack_tune(void);

/* Looks from this loop, once a second. */
struct slack *slack_open(struct loop *loop);
/* This loop's thread has a heap, too. Before the looks begin; the loop ends before the slack does.
 */
void slack_watch(struct slack *slack, struct loop *loop /* borrow */);
void slack_close(struct slack **slack);
