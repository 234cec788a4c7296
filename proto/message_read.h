// SPDX-License-Identifier: Apache-2.0
/*
 * What nodes and schema servers say of themselves, on the heap. Two bytes may cost protobuf-c some
 * hundred, so what a message takes is known before protobuf-c gets it: a page of schemas takes a
 * few times its bytes, and one that takes much more is no page of schemas.
 */
#pragma once

#include "frame/error.h"
#include "frame/slice.h"

#include <protobuf-c/protobuf-c.h>

#define MESSAGE_READ_FREE  ((size_t)16 << 20) /* bytes of memory that any message may take */
#define MESSAGE_READ_TIMES 4                  /* beyond them so many times what it has */

/* To be given to protobuf_c_message_free_unpacked. NULL: DATA_LOSS, malformed; RESOURCE_EXHAUSTED,
 * it takes too much. */
ProtobufCMessage *message_read(struct slice bytes, const ProtobufCMessageDescriptor *descriptor,
                               struct error *err) MUST_CHECK;
