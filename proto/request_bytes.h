// SPDX-License-Identifier: Apache-2.0
/*
 * A request as bytes: looked through before protobuf-c unpacks it into the region, and what of it
 * is sent on as it came. Criteria and values are never packed again: protobuf-c would end them at
 * a NUL, and fields that this version does not know would be lost.
 */
#pragma once

#include "frame/error.h"
#include "merge/arena.h"

#include <protobuf-c/protobuf-c.h>

/* NULL and err: what proto/depth.h refuses, or RESOURCE_EXHAUSTED when the message would take more
 * than the region's budget. Nothing of `bytes` is used later. */
ProtobufCMessage *request_bytes_unpack(struct slice bytes,
                                       const ProtobufCMessageDescriptor *descriptor,
                                       struct arena *arena, struct error *err);

/* The fields that are not among `changed` (bit n: field n), one after the other, in the region. */
struct slice request_bytes_carry(struct slice bytes, uint64_t changed, struct arena *arena);
#define REQUEST_BYTES_FIELD(number) (UINT64_C(1) << (number))
