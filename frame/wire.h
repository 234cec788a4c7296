// SPDX-License-Identifier: Apache-2.0
/*
 * The one place where bytes from outside are walked: a bounds-checked reader for varints,
 * little-endian numbers and protobuf fields. Every function fails cleanly at the end of the bytes.
 */
#pragma once

#include "frame/slice.h"

struct wire {
    const uint8_t *at;  /* borrow: next byte */
    const uint8_t *end; /* borrow */
    size_t skipped;     /* fields of groups, so far */
};

static inline struct wire wire_of(struct slice bytes)
{
    /* no sum with a NULL pointer, which an empty slice may hold */
    return (struct wire){.at = bytes.ptr,
                         .end = bytes.len == 0 ? bytes.ptr : bytes.ptr + bytes.len};
}

static inline size_t wire_left(const struct wire *wire)
{
    return (size_t)(wire->end - wire->at);
}

/* LEB128, at most 10 bytes and 64 bits; false = short or too long, nothing consumed. */
bool wire_uvarint(struct wire *wire, uint64_t *value_out);
bool wire_u8(struct wire *wire, uint8_t *value_out);
bool wire_take(struct wire *wire, size_t len, struct slice *bytes_out);

enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_GROUP_START = 3,
    WIRE_GROUP_END = 4,
    WIRE_FIXED32 = 5,
};

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;     /* VARINT, FIXED64, FIXED32 */
    struct slice bytes; /* BYTES; borrow */
};

enum wire_result { WIRE_FIELD, WIRE_END, WIRE_BROKEN };

/* The next protobuf field. Groups are skipped whole (unknown fields of old writers); a group that
 * does not close, a field number 0 or above 2^29-1, a length past the end: BROKEN. So are more than
 * 65,536 fields of groups in one message: nobody can make a walk over few fields take long. */
enum wire_result wire_next(struct wire *wire, struct wire_field *field);

static inline uint64_t wire_load64(const uint8_t *ptr)
{
    uint64_t value;
    memcpy(&value, ptr, sizeof value);
    return value;
}

static inline uint32_t wire_load32(const uint8_t *ptr)
{
    uint32_t value;
    memcpy(&value, ptr, sizeof value);
    return value;
}
