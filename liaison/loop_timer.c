// SPDX-License-Identifier: Apache-2.0
/* One libevent timer each. libevent's clock is coarse and lags behind within a turn, so a timer
 * that fires before its time by loop_now's clock is started again for the rest. */
#include "liaison/loop.h"

#include <event2/event.h>

#define NS_PER_MS 1000000u

static void on_timer(evutil_socket_t fd, short what, void *owner)
{
    (void)fd;
    (void)what;
    struct loop_timer *timer = owner;
    if (loop_now(timer->loop) < timer->due) {
        loop_timer_start_at(timer, timer->due);
        return;
    }
    timer->run(timer);
}

void loop_timer_init(struct loop_timer *timer, struct loop *loop,
                     void (*run)(struct loop_timer *timer))
{
    *timer = (struct loop_timer){.loop = loop, .run = run};
}

void loop_timer_start_at(struct loop_timer *timer, uint64_t due_ns)
{
    if (!event_initialized(&timer->event)) {
        event_assign(&timer->event, loop_base(timer->loop), -1, 0, on_timer, timer);
    }
    timer->due = due_ns;
    const uint64_t now = loop_now(timer->loop);
    const uint64_t delay_us = due_ns <= now ? 0 : (due_ns - now + 999) / 1000;
    struct timeval delay = {.tv_sec = (time_t)(delay_us / 1000000),
                            .tv_usec = (suseconds_t)(delay_us % 1000000)};
    event_add(&timer->event, &delay);
}

void loop_timer_start(struct loop_timer *timer, uint64_t delay_ms)
{
    const uint64_t now = loop_now(timer->loop);
    const uint64_t room = (UINT64_MAX - now) / NS_PER_MS;
    loop_timer_start_at(timer, now + (delay_ms < room ? delay_ms : room) * NS_PER_MS);
}

void loop_timer_stop(struct loop_timer *timer)
{
    if (event_initialized(&timer->event)) {
        event_del(&timer->event);
    }
}

bool loop_timer_is_running(const struct loop_timer *timer)
{
    return event_initialized(&timer->event) && event_pending(&timer->event, EV_TIMEOUT, NULL);
}

void loop_timer_fini(struct loop_timer *timer)
{
    loop_timer_stop(timer);
}
