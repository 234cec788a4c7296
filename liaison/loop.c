// SPDX-License-Identifier: Apache-2.0
/*
 * libevent runs one round of callbacks at a time (EVLOOP_ONCE); what was deferred, posted or reaped
 * follows between two rounds. The mailbox is a list under a mutex and an eventfd. The loop says
 * under that mutex that it goes to sleep, so a poster knows when a wake-up is due: a task for a
 * loop that is awake costs no system call.
 */
#include "liaison/loop.h"

#include "liaison/own.h"

#include <event2/event.h>

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define GRAVES_KEPT 1024 /* what a burst needs besides is given back */

STAILQ_HEAD(task_list, loop_task);

struct corpse {
    void *object; /* own */
    void (*free_object)(void *object);
};

struct graveyard {
    struct corpse *list; /* own */
    size_t len;
    size_t capacity;
};

struct loop {
    struct event_base *base; /* own */
    struct event *wake;      /* own: the mailbox's eventfd became readable */
    int wake_fd;             /* own */
    char name[16];
    bool now_known; /* in this turn */
    uint64_t now;
    struct task_list deferred;
    struct task_list deferred_last;
    struct graveyard fresh; /* given in this turn */
    struct graveyard stale; /* given before; nothing that was deferred then is still waiting */
    uint8_t *scratch;       /* own; made when first asked for */
    void (*turned)(void *owner, uint64_t nanoseconds); /* NULL: nobody watches */
    void *watcher;                                     /* borrow: whom it is for */
    uint64_t worked;                                   /* the thread's own time so far, ns */

    pthread_mutex_t mutex; /* guards what follows */
    struct task_list mailbox;
    bool sleeping; /* waits in libevent with an empty mailbox */
    bool stopping;
};

static void on_wake(evutil_socket_t fd, short what, void *owner)
{
    (void)what;
    (void)owner;
    uint64_t posts;
    ssize_t n = read(fd, &posts, sizeof posts);
    (void)n; /* nothing to read is fine: the mailbox is looked at in any case */
}

static struct event_base *base_new(void)
{
    struct event_config *config = own_checked(event_config_new());
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK); /* only the mailbox crosses threads */
    struct event_base *base = own_checked(event_base_new_with_config(config));
    event_config_free(config);
    return base;
}

struct loop *loop_new(const char *name)
{
    struct loop *loop = own_array(1, sizeof *loop);
    strncpy(loop->name, name, sizeof loop->name - 1);
    loop->base = base_new();
    STAILQ_INIT(&loop->deferred);
    STAILQ_INIT(&loop->deferred_last);
    STAILQ_INIT(&loop->mailbox);
    pthread_mutex_init(&loop->mutex, NULL);
    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (loop->wake_fd < 0) {
        abort();
    }
    loop->wake =
        own_checked(event_new(loop->base, loop->wake_fd, EV_READ | EV_PERSIST, on_wake, loop));
    event_add(loop->wake, NULL);
    return loop;
}

struct event_base *loop_base(struct loop *loop)
{
    return loop->base;
}

uint8_t *loop_scratch(struct loop *loop)
{
    if (loop->scratch == NULL) {
        loop->scratch = own_checked(malloc(LOOP_SCRATCH));
    }
    return loop->scratch;
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

void loop_clock_refresh(struct loop *loop)
{
    loop->now = clock_ns(CLOCK_MONOTONIC);
    loop->now_known = true;
}

uint64_t loop_now(struct loop *loop)
{
    if (!loop->now_known) {
        loop_clock_refresh(loop);
    }
    return loop->now;
}

int64_t loop_wall_ns(void)
{
    return (int64_t)clock_ns(CLOCK_REALTIME);
}

void loop_watch(struct loop *loop, void (*turned)(void *owner, uint64_t nanoseconds), void *owner)
{
    loop->turned = turned;
    loop->watcher = owner;
}

/* Tasks */

static void run_list(struct task_list *list)
{
    while (!STAILQ_EMPTY(list)) {
        struct loop_task *task = STAILQ_FIRST(list);
        STAILQ_REMOVE_HEAD(list, next);
        task->queued = false;
        task->run(task);
    }
}

/* What is queued meanwhile stays for the next time. */
// NOLINTNEXTLINE(readability-function-size): the queue's macros nest
static void run_batch(struct task_list *list)
{
    struct task_list batch = STAILQ_HEAD_INITIALIZER(batch);
    STAILQ_CONCAT(&batch, list);
    run_list(&batch);
}

static void queue(struct task_list *list, struct loop_task *task)
{
    if (!task->queued) {
        task->queued = true;
        STAILQ_INSERT_TAIL(list, task, next);
    }
}

void loop_defer(struct loop *loop, struct loop_task *task)
{
    queue(&loop->deferred, task);
}

void loop_defer_last(struct loop *loop, struct loop_task *task)
{
    queue(&loop->deferred_last, task);
}

/* With the mutex held: true when the caller has to wake the loop. One waker is enough. */
static bool take_wake(struct loop *loop)
{
    bool due = loop->sleeping;
    loop->sleeping = false;
    return due;
}

static void wake(struct loop *loop)
{
    const uint64_t one = 1;
    ssize_t n = write(loop->wake_fd, &one, sizeof one);
    (void)n; /* a full counter wakes as well */
}

void loop_post(struct loop *loop, struct loop_task *task)
{
    pthread_mutex_lock(&loop->mutex);
    queue(&loop->mailbox, task);
    bool due = take_wake(loop);
    pthread_mutex_unlock(&loop->mutex);
    if (due) {
        wake(loop);
    }
}

void loop_stop(struct loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    loop->stopping = true;
    bool due = take_wake(loop);
    pthread_mutex_unlock(&loop->mutex);
    if (due) {
        wake(loop);
    }
}

static struct loop_task *take_first(struct loop *loop, struct task_list *list)
{
    pthread_mutex_lock(&loop->mutex);
    struct loop_task *task = STAILQ_FIRST(list);
    if (task != NULL) {
        STAILQ_REMOVE_HEAD(list, next);
        task->queued = false;
    }
    pthread_mutex_unlock(&loop->mutex);
    return task;
}

/* Runs what had been posted when it was called. A task may be posted again while it runs, so each
 * one leaves the list under the mutex. Returns whether loop_stop was called before. */
// NOLINTNEXTLINE(readability-function-size): the queue's macros nest
static bool run_mailbox(struct loop *loop)
{
    struct task_list batch = STAILQ_HEAD_INITIALIZER(batch);
    pthread_mutex_lock(&loop->mutex);
    loop->sleeping = false;
    bool stopping = loop->stopping;
    STAILQ_CONCAT(&batch, &loop->mailbox);
    pthread_mutex_unlock(&loop->mutex);
    struct loop_task *task;
    while ((task = take_first(loop, &batch)) != NULL) {
        task->run(task);
    }
    return stopping;
}

/* The reap list */

static void bury(struct graveyard *graves, struct corpse corpse)
{
    if (graves->len == graves->capacity) {
        graves->capacity = graves->capacity == 0 ? 64 : graves->capacity * 2;
        graves->list = own_grow(graves->list, graves->capacity, sizeof *graves->list);
    }
    graves->list[graves->len++] = corpse;
}

void loop_reap(struct loop *loop, void *object, void (*free_object)(void *object))
{
    bury(&loop->fresh, (struct corpse){.object = object, .free_object = free_object});
}

static void dig(struct graveyard *graves)
{
    for (size_t i = 0; i < graves->len; i++) {
        graves->list[i].free_object(graves->list[i].object);
    }
    graves->len = 0;
    if (graves->capacity > GRAVES_KEPT) {
        free(graves->list);
        *graves = (struct graveyard){0};
    }
}

/* A deferred task that still waits may belong to an object given since, so those wait for the end
 * of the next turn, when it has run. What a free function gives comes into the fresh ones. */
static void reap(struct loop *loop)
{
    dig(&loop->stale);
    struct graveyard fresh = loop->fresh;
    loop->fresh = loop->stale;
    loop->stale = fresh;
    if (STAILQ_EMPTY(&loop->deferred) && STAILQ_EMPTY(&loop->deferred_last)) {
        dig(&loop->stale);
    }
}

/* Turns */

static bool has_rest(const struct loop *loop)
{
    return !STAILQ_EMPTY(&loop->deferred) || !STAILQ_EMPTY(&loop->deferred_last) ||
           loop->fresh.len > 0 || loop->stale.len > 0;
}

static bool may_sleep(struct loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    loop->sleeping = STAILQ_EMPTY(&loop->mailbox) && !loop->stopping && !has_rest(loop);
    bool sleeping = loop->sleeping;
    pthread_mutex_unlock(&loop->mutex);
    return sleeping;
}

static void tell_watcher(struct loop *loop)
{
    if (loop->turned != NULL) {
        const uint64_t before = loop->worked;
        loop->worked = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        loop->turned(loop->watcher, loop->worked - before);
    }
}

static bool finish_turn(struct loop *loop)
{
    bool stopping = run_mailbox(loop);
    run_batch(&loop->deferred);
    run_batch(&loop->deferred_last);
    reap(loop);
    loop->now_known = false;
    return stopping;
}

static void enter_thread(struct loop *loop)
{
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    const bool is_main = gettid() == getpid(); /* its name is the process's, which has one */
    if (loop->name[0] != '\0' && !is_main) {
        pthread_setname_np(pthread_self(), loop->name);
    }
}

void loop_run(struct loop *loop)
{
    enter_thread(loop);
    bool stopping = false;
    loop->worked = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (!stopping) {
        int flags = EVLOOP_ONCE | (may_sleep(loop) ? 0 : EVLOOP_NONBLOCK);
        event_base_loop(loop->base, flags);
        stopping = finish_turn(loop);
        tell_watcher(loop);
    }
    pthread_mutex_lock(&loop->mutex);
    loop->stopping = false;
    pthread_mutex_unlock(&loop->mutex);
}

void loop_free(struct loop **loop)
{
    struct loop *freed = *loop;
    if (freed == NULL) {
        return;
    }
    do {
        finish_turn(freed);
    } while (has_rest(freed) || !STAILQ_EMPTY(&freed->mailbox));
    *loop = NULL; /* not before: what ran may have used the pointer */
    event_free(freed->wake);
    event_base_free(freed->base);
    close(freed->wake_fd);
    pthread_mutex_destroy(&freed->mutex);
    free(freed->fresh.list);
    free(freed->stale.list);
    free(freed->scratch);
    free(freed);
}
