// SPDX-License-Identifier: Apache-2.0
#include "proto/message_read.h"

#include "proto/depth.h"

static ProtobufCMessage *refuse(struct slice bytes, const ProtobufCMessageDescriptor *descriptor,
                                struct error *err)
{
    error_set(err, ERROR_DATA_LOSS, "%zu bytes found that are no %s", bytes.len, descriptor->name);
    return NULL;
}

ProtobufCMessage *message_read(struct slice bytes, const ProtobufCMessageDescriptor *descriptor,
                               struct error *err)
{
    const size_t most = MESSAGE_READ_FREE + MESSAGE_READ_TIMES * bytes.len;
    size_t needed;
    if (!depth_measure(bytes, descriptor, &needed)) {
        return refuse(bytes, descriptor, err);
    }
    if (needed > most) {
        error_set(err, ERROR_RESOURCE_EXHAUSTED,
                  "%s of %zu bytes found that takes about %zu bytes of memory, %zu expected at "
                  "most",
                  descriptor->name, bytes.len, needed, most);
        return NULL;
    }
    ProtobufCMessage *message = protobuf_c_message_unpack(descriptor, NULL, bytes.len, bytes.ptr);
    return message != NULL ? message : refuse(bytes, descriptor, err);
}
