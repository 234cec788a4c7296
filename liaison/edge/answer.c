// SPDX-License-Identifier: Apache-2.0
#include "liaison/edge/answer.h"

#include "liaison/own.h"

void answer_send(struct exchange *exchange, const ProtobufCMessage *message)
{
    const size_t len = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = own_array(1, len + 1);
    protobuf_c_message_pack(message, bytes);
    struct chain chain;
    chain_init(&chain, NULL);
    chain_append(&chain, slice_of(bytes, len));
    free(bytes);
    exchange_respond(exchange, &chain);
}
