// SPDX-License-Identifier: Apache-2.0
/*
 * What the allocator keeps for one thread alone: a few freed blocks of every small size, which it
 * counts as given out and which hold the pages that they lie on. They pile up for hours, as rare
 * sizes come by.
 */
#pragma once

/* Gives the calling thread's back to the heaps. Takes about as long as to start a thread. */
void thread_cache_drop(void);
