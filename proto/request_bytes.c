// SPDX-License-Identifier: Apache-2.0
#include "proto/request_bytes.h"

#include "frame/wire.h"
#include "proto/alloc.h"
#include "proto/depth.h"

static bool check_budget(struct slice bytes, size_t needed, const struct arena *arena,
                         struct error *err)
{
    size_t left = arena->budget > arena->capacity ? arena->budget - arena->capacity : 0;
    return needed <= left ||
           error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "the request of %zu bytes takes about %zu bytes of memory, %zu of the query's "
                     "budget of %zu are left; ask for fewer groups, tags or conditions",
                     bytes.len, needed, left, arena->budget);
}

ProtobufCMessage *request_bytes_unpack(struct slice bytes,
                                       const ProtobufCMessageDescriptor *descriptor,
                                       struct arena *arena, struct error *err)
{
    size_t needed;
    if (!depth_check(bytes, descriptor, &needed, err) || !check_budget(bytes, needed, arena, err)) {
        return NULL;
    }
    ProtobufCAllocator allocator = alloc_region(arena);
    ProtobufCMessage *message =
        protobuf_c_message_unpack(descriptor, &allocator, bytes.len, bytes.ptr);
    if (message == NULL) {
        error_set(
            err, ERROR_INTERNAL,
            "grpc: error unmarshalling request: proto: cannot parse invalid wire-format data");
    }
    return message;
}

static bool is_among(uint64_t fields, uint32_t number)
{
    return number < 64 && (fields >> number & 1) != 0;
}

struct slice request_bytes_carry(struct slice bytes, uint64_t changed, struct arena *arena)
{
    uint8_t *start = arena_alloc(arena, bytes.len, 1);
    uint8_t *at = start;
    struct wire wire = wire_of(bytes);
    struct wire_field field;
    const uint8_t *from = wire.at;
    while (wire_next(&wire, &field) == WIRE_FIELD) {
        size_t len = (size_t)(wire.at - from);
        if (!is_among(changed, field.number)) {
            memcpy(at, from, len);
            at += len;
        }
        from = wire.at;
    }
    return slice_of(start, (size_t)(at - start));
}
