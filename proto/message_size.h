// SPDX-License-Identifier: Apache-2.0
/* What a message that lies on the heap holds, with all below it: as malloc says, rounding included.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>

/* NULL: 0. Nothing of it may lie in a region. */
size_t message_size(const ProtobufCMessage *message);
