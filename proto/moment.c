// SPDX-License-Identifier: Apache-2.0
#include "proto/moment.h"

#define SECOND 1000000000

struct moment moment_of(const Google__Protobuf__Timestamp *timestamp)
{
    int32_t carry = timestamp->nanos / SECOND;
    int32_t nanos = timestamp->nanos % SECOND;
    if (nanos < 0) {
        nanos += SECOND;
        carry--;
    }
    struct moment moment = {.nanos = nanos};
    if (__builtin_add_overflow(timestamp->seconds, (int64_t)carry, &moment.seconds)) {
        moment.seconds = carry < 0 ? INT64_MIN : INT64_MAX;
    }
    return moment;
}

Google__Protobuf__Timestamp moment_timestamp(int64_t nanoseconds)
{
    Google__Protobuf__Timestamp timestamp;
    google__protobuf__timestamp__init(&timestamp);
    const int64_t nanos = nanoseconds % SECOND;
    timestamp.nanos = (int32_t)(nanos < 0 ? nanos + SECOND : nanos);
    timestamp.seconds = nanoseconds / SECOND - (nanos < 0);
    return timestamp;
}

int moment_compare(struct moment a, struct moment b)
{
    if (a.seconds != b.seconds) {
        return a.seconds < b.seconds ? -1 : 1;
    }
    return a.nanos < b.nanos ? -1 : a.nanos > b.nanos;
}

bool moment_has_nanos(struct moment moment)
{
    /* INT64_MIN and INT64_MAX nanoseconds */
    const struct moment first = {.seconds = -9223372037, .nanos = 145224192};
    const struct moment last = {.seconds = 9223372036, .nanos = 854775807};
    return moment_compare(first, moment) <= 0 && moment_compare(moment, last) <= 0;
}

int64_t moment_nanos(struct moment moment)
{
    if (!moment_has_nanos(moment)) {
        return moment.seconds < 0 ? INT64_MIN : INT64_MAX;
    }
    if (moment.seconds < 0) { /* from the second behind it: the product alone may not fit */
        return (moment.seconds + 1) * SECOND + (moment.nanos - SECOND);
    }
    return moment.seconds * SECOND + moment.nanos;
}
