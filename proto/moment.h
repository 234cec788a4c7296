// SPDX-License-Identifier: Apache-2.0
/* A point in time as protobuf tells it: seconds since 1970 and nanoseconds on top. */
#pragma once

#include "proto/timestamp.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

struct moment {
    int64_t seconds;
    int32_t nanos; /* 0 to 999,999,999 */
};

/* Nanoseconds of any sign and size are carried over into the seconds. */
struct moment moment_of(const Google__Protobuf__Timestamp *timestamp);

/* As a protobuf message, from nanoseconds since 1970. */
Google__Protobuf__Timestamp moment_timestamp(int64_t nanoseconds);

/* -1, 0, 1 */
int moment_compare(struct moment a, struct moment b);

/* Nanoseconds since 1970 fit into 64 bits. */
bool moment_has_nanos(struct moment moment);

/* Nanoseconds since 1970; for moments beyond what 64 bits hold, the nearest ones. */
int64_t moment_nanos(struct moment moment);
