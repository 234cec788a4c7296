// SPDX-License-Identifier: Apache-2.0
/* Half open is a count that lacks one failure. */
#include "liaison/cluster/breaker.h"

bool breaker_failed(struct breaker *breaker)
{
    breaker->failures++;
    return breaker->failures >= BREAKER_FAILURES;
}

void breaker_worked(struct breaker *breaker)
{
    breaker->failures = 0;
}

void breaker_half_open(struct breaker *breaker)
{
    breaker->failures = BREAKER_FAILURES - 1;
}
