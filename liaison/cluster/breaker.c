// SPDX-License-Identifier: Apache-2.0
/* An answer that comes late to a call from before it opened says nothing: others were not. */
#include "liaison/cluster/breaker.h"

const char *breaker_name(const struct breaker *breaker)
{
    static const char *const names[] = {"closed", "open", "half-open"};
    return names[breaker->state];
}

bool breaker_failed(struct breaker *breaker)
{
    if (breaker->state == BREAKER_OPEN) {
        return false;
    }
    breaker->failures++;
    if (breaker->state == BREAKER_CLOSED && breaker->failures < BREAKER_FAILURES) {
        return false;
    }
    breaker->state = BREAKER_OPEN;
    breaker->was_away = false;
    return true;
}

void breaker_worked(struct breaker *breaker)
{
    if (breaker->state != BREAKER_OPEN) {
        *breaker = (struct breaker){.state = BREAKER_CLOSED};
    }
}

void breaker_probe_failed(struct breaker *breaker)
{
    breaker->was_away = breaker->state == BREAKER_OPEN;
}

void breaker_probe_worked(struct breaker *breaker)
{
    if (breaker->state != BREAKER_OPEN) {
        return;
    }
    if (breaker->was_away) {
        *breaker = (struct breaker){.state = BREAKER_CLOSED};
    } else {
        breaker->state = BREAKER_HALF_OPEN;
    }
}
