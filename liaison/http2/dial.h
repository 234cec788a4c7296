// SPDX-License-Identifier: Apache-2.0
/*
 * From "host:port" to a connected socket: resolve, then try one address after the other.
 * Numeric hosts and "localhost" need no resolver.
 */
#pragma once

#include "frame/charge.h"
#include "frame/error.h"
#include "liaison/loop.h"

#define DIAL_HOST_BYTES 256

struct dial;

struct dial_target {
    char host[DIAL_HOST_BYTES]; /* without brackets and trailing dot */
    char port[6];
    bool is_complete; /* there was a trailing dot: no search domain is tried */
};

/* "host:port" or "[v6]:port". */
bool dial_parse(const char *address, struct dial_target *target_out, struct error *err) MUST_CHECK;

/* Called once, from the loop, with a non-blocking socket (taken), or -1 and why. The dial is gone.
 */
typedef void dial_done(void *owner, int fd, const struct error *why);

struct dial_options {
    const struct dial_target *target; /* borrow during dial_open */
    uint64_t timeout_ms;   /* shared out among the addresses; the caller guards the whole */
    struct charge *charge; /* borrow: outlives the dial; may be NULL */
};

struct dial *dial_open(struct loop *loop, const struct dial_options *options, dial_done *done,
                       void *owner /* borrow */);
/* NULLs the pointer; `done` is not called any more. NULL is a no-op. */
void dial_cancel(struct dial **dial);
