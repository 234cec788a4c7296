// SPDX-License-Identifier: Apache-2.0
/* What a message that lies on the heap holds, with all below it, the allocator's rounding included.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>

/* NULL: 0. Nothing of it may lie in a region. */
size_t message_size(const ProtobufCMessage *message);
/* What an allocation of `size` bytes takes of the heap. */
size_t message_size_chunk(size_t size);
