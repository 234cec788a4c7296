// SPDX-License-Identifier: Apache-2.0
/* Connections that take no new calls and are closed when those begun on them have ended. */
#pragma once

#include "liaison/http2/link.h"

#include <sys/queue.h>

struct old_link {
    LIST_ENTRY(old_link) entry;
    struct link *link;   /* own */
    uint64_t doubted_at; /* loop_now; its peer had fallen silent, whether it lives is to be seen; 0
                            = not doubted */
};

struct old_links {
    LIST_HEAD(, old_link) list;
    struct loop *loop;      /* borrow */
    struct loop_task sweep; /* looks for links without calls; later, never inside their callbacks */
};

void old_links_init(struct old_links *links, struct loop *loop);
/* Closes all; their calls end with UNAVAILABLE. The memory must outlive this loop turn. */
void old_links_fini(struct old_links *links);
void old_links_add(struct old_links *links, struct link *link /* take */, bool doubted);
/* What becomes of the doubted ones: their calls go on, or end with why (UNAVAILABLE), unless
 * something has come since. */
void old_links_trust(struct old_links *links);
void old_links_fail(struct old_links *links, const struct error *why);
/* A call has ended somewhere: perhaps one of them is done. */
void old_links_sweep(struct old_links *links);
/* This one is broken. A link that is not in the list is left alone. */
void old_links_drop(struct old_links *links, const struct link *link);
size_t old_links_count(const struct old_links *links);
