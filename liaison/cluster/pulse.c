// SPDX-License-Identifier: Apache-2.0
/* The patience timer is not restarted by what comes; when it fires it looks at when that was. */
#include "liaison/cluster/pulse.h"

#include "liaison/cluster/probe.h"
#include "liaison/container_of.h"

#include <stddef.h>
#include <sys/param.h>

#define PATIENCE_NS (PULSE_PATIENCE_MS * UINT64_C(1000000))

static void on_probe(void *owner, struct msg *msg, const struct error *why)
{
    struct pulse *pulse = owner;
    struct error err;
    pulse->unary = NULL;
    loop_timer_stop(&pulse->patience);
    const bool serving = probe_is_serving(msg, why, &err);
    msg_release(&msg);
    pulse->on_answer(pulse->owner, serving ? NULL : &err);
}

static void run_patience(struct loop_timer *timer)
{
    struct pulse *pulse = container_of(timer, struct pulse, patience);
    const uint64_t alive_at = MAX(pulse->asked_at, link_heard_at(pulse->link));
    struct error why;
    if (loop_now(pulse->loop) < alive_at + PATIENCE_NS) {
        loop_timer_start_at(&pulse->patience, alive_at + PATIENCE_NS);
        return;
    }
    unary_cancel(&pulse->unary);
    error_set(&why, ERROR_DEADLINE_EXCEEDED,
              "health check: not answered, and nothing else came, for %u ms", PULSE_PATIENCE_MS);
    pulse->on_answer(pulse->owner, &why);
}

static void run_next(struct loop_timer *timer)
{
    struct pulse *pulse = container_of(timer, struct pulse, next);
    pulse_ask(pulse, pulse->link);
}

void pulse_init(struct pulse *pulse)
{
    loop_timer_init(&pulse->next, pulse->loop, run_next);
    loop_timer_init(&pulse->patience, pulse->loop, run_patience);
}

void pulse_fini(struct pulse *pulse)
{
    pulse_stop(pulse);
    loop_timer_fini(&pulse->next);
    loop_timer_fini(&pulse->patience);
}

void pulse_ask(struct pulse *pulse, struct link *link)
{
    if (pulse->unary != NULL) {
        return;
    }
    loop_timer_stop(&pulse->next);
    pulse->link = link;
    pulse->asked_at = loop_now(pulse->loop);
    pulse->unary = probe_ask(
        pulse->loop, link,
        &(struct probe_options){.charge = pulse->charge, .on_answer = on_probe, .owner = pulse});
    loop_timer_start(&pulse->patience, PULSE_PATIENCE_MS);
}

void pulse_ask_later(struct pulse *pulse, struct link *link, uint64_t delay_ms)
{
    pulse->link = link;
    loop_timer_start(&pulse->next, delay_ms);
}

void pulse_stop(struct pulse *pulse)
{
    unary_cancel(&pulse->unary);
    loop_timer_stop(&pulse->next);
    loop_timer_stop(&pulse->patience);
}
