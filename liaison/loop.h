// SPDX-License-Identifier: Apache-2.0
/*
 * One thread's event loop: libevent's base, a cached clock, later-in-this-turn tasks, a mailbox
 * for tasks from other threads, and the reap list.
 *
 *     turn:  wait ─▶ event callbacks ─▶ mailbox ─▶ deferred ─▶ deferred last ─▶ reap
 *
 * Nobody frees inside a callback: an object that is done is closed, taken off every list, and
 * given to loop_reap, which frees it after the turn. Unless a line says otherwise a function may
 * only be called on the loop's own thread (before loop_run: on the thread that made it).
 */
#pragma once

#include <event2/event_struct.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct event_base;
struct loop;

/* Embedded by its owner; `run` is called once for each loop_defer or loop_post. From then until
 * it runs the memory must stay; inside `run` the task may be queued again, or freed. */
struct loop_task {
    STAILQ_ENTRY(loop_task) next;
    void (*run)(struct loop_task *task);
    bool queued;
};

/* Embedded by its owner. Fires once for each start, never before its time. */
struct loop_timer {
    struct event event; /* initialised by the first start */
    struct loop *loop;  /* borrow */
    uint64_t due;       /* loop_now's clock */
    void (*run)(struct loop_timer *timer);
};

struct loop *loop_new(const char *name /* copied; up to 15 bytes name the thread */);
/* Runs what is left in the mailbox, of deferred tasks and on the reap list; NULLs the pointer. */
void loop_free(struct loop **loop);

struct event_base *loop_base(struct loop *loop);
/* Returns after loop_stop, when the tasks posted before it have run. May be called again. SIGPIPE
 * is blocked for the thread. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop); /* from any thread */

/* Before loop_run: `turned` is told after each turn what it took, of the thread's own time (a busy
 * machine lets threads wait) and from one wait to the next. */
void loop_watch(struct loop *loop, void (*turned)(void *owner, uint64_t nanoseconds),
                void *owner /* borrow: outlives the loop's runs */);

uint64_t loop_now(struct loop *loop);       /* monotonic nanoseconds, read once a turn */
void loop_clock_refresh(struct loop *loop); /* after long work in one turn */
int64_t loop_wall_ns(void);                 /* nanoseconds since the epoch */

/* This thread only: runs after the callbacks of this turn. Queued twice = run once. What is
 * deferred by a deferred task runs next turn, so a long work that goes on by deferring itself
 * leaves the sockets their share. */
void loop_defer(struct loop *loop, struct loop_task *task);
/* The same, but after all deferred tasks of this turn: for writing out what they produced. */
void loop_defer_last(struct loop *loop, struct loop_task *task);
/* From any thread; takes the task until it runs. Queued twice = run once. Wakes the loop only when
 * it sleeps. A task is either posted or deferred, never both at a time. */
void loop_post(struct loop *loop, struct loop_task *task);

void loop_timer_init(struct loop_timer *timer, struct loop *loop,
                     void (*run)(struct loop_timer *timer));
void loop_timer_start(struct loop_timer *timer, uint64_t delay_ms); /* restarts */
void loop_timer_start_at(struct loop_timer *timer,
                         uint64_t due_ns); /* restarts; loop_now's clock */
void loop_timer_stop(struct loop_timer *timer);
bool loop_timer_is_running(const struct loop_timer *timer);
void loop_timer_fini(struct loop_timer *timer);

/* Frees `object` with `free_object` after this turn; tasks deferred before this call run first. */
void loop_reap(struct loop *loop, void *object, void (*free_object)(void *object));

/* The buffer into which the sockets of this loop are read: in use while a connection's events run.
 */
#define LOOP_SCRATCH ((size_t)256 << 10)
uint8_t *loop_scratch(struct loop *loop);
