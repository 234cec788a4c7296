// SPDX-License-Identifier: Apache-2.0
/* Any event in the directory leads to one look at the file's identity a little later; only when
 * that has changed is somebody told. */
#include "liaison/cluster/file_watch.h"

#include "liaison/container_of.h"
#include "liaison/own.h"

#include <event2/event.h>

#include <libgen.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETTLE_MS 200  /* a writer is done by then */
#define RETRY_MS  1000 /* a directory that is not there, or no inotify to watch it with */

struct file_watch {
    struct loop *loop;      /* borrow */
    char *path;             /* own */
    char *directory;        /* own */
    int fd;                 /* own: inotify; -1 = there is none to be had */
    struct event *readable; /* own */
    bool watching;
    struct loop_timer settle;
    struct loop_timer retry;
    struct stat last; /* all zero = the file was not there */
    bool seen_empty;  /* at the last look, and not told yet */
    void (*on_change)(void *owner);
    void *owner; /* borrow */
};

static struct stat look(const char *path)
{
    struct stat found;
    memset(&found, 0, sizeof found);
    if (stat(path, &found) != 0) {
        memset(&found, 0, sizeof found);
    }
    return found;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void settle_later(struct file_watch *watch)
{
    if (!loop_timer_is_running(&watch->settle)) {
        loop_timer_start(&watch->settle, SETTLE_MS);
    }
}

/* One that was just cut to nothing is most likely being written anew. */
static bool is_being_written(struct file_watch *watch, const struct stat *now)
{
    watch->seen_empty = !watch->seen_empty && now->st_size == 0 && watch->last.st_size > 0;
    return watch->seen_empty;
}

static void run_settle(struct loop_timer *timer)
{
    struct file_watch *watch = container_of(timer, struct file_watch, settle);
    const struct stat now = look(watch->path);
    if (is_being_written(watch, &now)) {
        settle_later(watch);
        return;
    }
    if (!is_same(&now, &watch->last)) {
        watch->last = now;
        watch->on_change(watch->owner);
    }
}

static void begin(struct file_watch *watch)
{
    if (watch->fd < 0) { /* the system's limit is reached: look now and then instead */
        settle_later(watch);
        loop_timer_start(&watch->retry, RETRY_MS);
        return;
    }
    const uint32_t events = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_CLOSE_WRITE | IN_MODIFY |
                            IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
    watch->watching = inotify_add_watch(watch->fd, watch->directory, events) >= 0;
    if (watch->watching) {
        settle_later(watch); /* what happened while nobody looked */
    } else {
        loop_timer_start(&watch->retry, RETRY_MS);
    }
}

static void run_retry(struct loop_timer *timer)
{
    begin(container_of(timer, struct file_watch, retry));
}

static void take_event(struct file_watch *watch, const struct inotify_event *event)
{
    const uint32_t gone = IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT;
    if ((event->mask & gone) != 0 && watch->watching) { /* with its directory */
        watch->watching = false;
        loop_timer_start(&watch->retry, RETRY_MS);
    }
    settle_later(watch);
}

static void on_readable(evutil_socket_t fd, short what, void *owner)
{
    struct file_watch *watch = owner;
    alignas(struct inotify_event) char bytes[4096];
    (void)what;
    /* One read a turn: who writes in this directory without a pause must not hold up the loop. */
    ssize_t len = read(fd, bytes, sizeof bytes);
    for (ssize_t at = 0; at < len;) {
        const void *start = bytes + at;
        const struct inotify_event *event = start;
        take_event(watch, event);
        at += (ssize_t)(sizeof *event + event->len);
    }
}

static char *directory_of(const char *path)
{
    char *copy = own_text(path);
    char *directory = own_text(dirname(copy));
    free(copy);
    return directory;
}

struct file_watch *file_watch_open(struct loop *loop, const char *path,
                                   void (*on_change)(void *owner), void *owner)
{
    struct file_watch *watch = own_array(1, sizeof *watch);
    watch->loop = loop;
    watch->path = own_text(path);
    watch->directory = directory_of(path);
    watch->on_change = on_change;
    watch->owner = owner;
    watch->last = look(path);
    loop_timer_init(&watch->settle, loop, run_settle);
    loop_timer_init(&watch->retry, loop, run_retry);
    watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch->fd >= 0) {
        watch->readable = own_checked(
            event_new(loop_base(loop), watch->fd, EV_READ | EV_PERSIST, on_readable, watch));
        event_add(watch->readable, NULL);
    }
    begin(watch);
    return watch;
}

static void reap(void *object)
{
    struct file_watch *watch = object;
    free(watch->path);
    free(watch->directory);
    free(watch);
}

void file_watch_close(struct file_watch **watch)
{
    struct file_watch *closed = *watch;
    *watch = NULL;
    if (closed == NULL) {
        return;
    }
    if (closed->fd >= 0) {
        event_free(closed->readable);
        close(closed->fd);
    }
    loop_timer_fini(&closed->settle);
    loop_timer_fini(&closed->retry);
    loop_reap(closed->loop, closed, reap);
}
