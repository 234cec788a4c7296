// SPDX-License-Identifier: Apache-2.0
/*
 * The control thread: discovery, schema registry, and the HTTP port for operators (/metrics,
 * /healthz, /nodes). What it learns of the cluster it hands to every executor as one world.
 *
 * Opened, started and closed by the main thread. Between control_start() and control_stop() all of
 * it belongs to the thread itself, except control_leave(), which any thread may call.
 */
#pragma once

#include "liaison/query/executor.h"

struct control;

struct control_setup {
    const struct options *options; /* borrow */
    struct log *log;               /* borrow */
    struct metrics *metrics;       /* borrow */
    struct budget *budget;         /* borrow: its buffers are charged there */
    struct executor **executors;   /* borrow; open before it and closed after control_stop() */
    size_t executor_count;
    struct loop *first_world_loop;       /* borrow: the main thread's; on_first_world runs there */
    void (*on_first_world)(void *owner); /* once: from now on queries can be answered */
    void *owner;
};

/* NULL with an error: an address that cannot be listened on, a discovery that cannot be begun. */
struct control *control_open(const struct control_setup *setup, struct error *err);

bool control_start(struct control *control, struct error *err);

/* From now on /healthz says that the liaison is leaving. */
void control_leave(struct control *control);

/* Of the HTTP port for operators. */
unsigned control_port(const struct control *control);

/* Ends the thread, if there is one; nothing is handed to the executors any more. */
void control_stop(struct control *control);

/* NULL is nothing to close. */
void control_close(struct control **control);
