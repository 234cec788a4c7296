// SPDX-License-Identifier: Apache-2.0
/* Moments as text: 2026-11-30T10:50:00.123456789Z, or with an offset such as +02:00. */
#pragma once

#include "frame/slice.h"

struct rfc3339 {
    int64_t seconds; /* since 1970-01-01T00:00:00Z; years 1 to 9999 */
    int32_t nanos;   /* 0 to 999,999,999 */
};

/* Up to 9 digits of a fraction; false = not such a text, or no such day or hour. */
bool rfc3339_parse(struct slice text, struct rfc3339 *moment);
