// SPDX-License-Identifier: Apache-2.0
/*
 * Tells when a file has become another one: written to, replaced by a rename, or reached through a
 * symbolic link that now points elsewhere (as orchestrators swap configuration).
 *
 * The directory is watched, not the file, because a replaced file takes its watch with it.
 */
#pragma once

#include "liaison/loop.h"

struct file_watch;

/* Copies the path. on_change comes from the loop, a moment after the change, once for many. A
 * directory that cannot be watched is tried again; never NULL. */
struct file_watch *file_watch_open(struct loop *loop, const char *path,
                                   void (*on_change)(void *owner), void *owner /* borrow */);
void file_watch_close(struct file_watch **watch);
