// SPDX-License-Identifier: Apache-2.0
/*
 * One thread's event loop: libevent's base, a cached clock, later-in-this-turn tasks, a mailbox
 * for tasks from other threads, and the reap list.
 *
 * Nobody frees inside a callback: an object that is done is closed, taken off every list, and
 * given to loop_reap, which frees it after the turn.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct event_base;
struct loop;

/* Embedded by its owner; `run` is called once for each loop_defer or loop_post. */
struct loop_task {
    STAILQ_ENTRY(loop_task) next;
    void (*run)(struct loop_task *task);
    bool queued;
};

/* Embedded by its owner. */
struct loop_timer {
    struct event *event; /* own */
    struct loop *loop;   /* borrow */
    void (*run)(struct loop_timer *timer);
};

struct loop *loop_new(const char *name);
void loop_free(struct loop **loop); /* runs what is left on the reap list */

struct event_base *loop_base(struct loop *loop);
/* Returns after loop_stop, when the tasks posted before it have run. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop); /* from any thread */

uint64_t loop_now(struct loop *loop);      /* monotonic nanoseconds, read once a turn */
void loop_clock_refresh(struct loop *loop); /* after long work in one turn */
int64_t loop_wall_ns(void);                /* nanoseconds since the epoch */

/* This thread only: runs after the callbacks of this turn. Queued twice = run once. */
void loop_defer(struct loop *loop, struct loop_task *task);
/* From any thread; takes the task until it runs. Wakes the loop only when it sleeps. */
void loop_post(struct loop *loop, struct loop_task *task);

void loop_timer_init(struct loop_timer *timer, struct loop *loop,
                     void (*run)(struct loop_timer *timer));
void loop_timer_start(struct loop_timer *timer, uint64_t delay_ms); /* restarts */
void loop_timer_stop(struct loop_timer *timer);
void loop_timer_fini(struct loop_timer *timer);

/* Frees `object` with `free_object` after this turn. */
void loop_reap(struct loop *loop, void *object, void (*free_object)(void *object));
