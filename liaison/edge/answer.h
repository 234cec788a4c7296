// SPDX-License-Identifier: Apache-2.0
/* A protobuf-c message as the one answer of a unary call. */
#pragma once

#include "liaison/http2/server.h"

#include <protobuf-c/protobuf-c.h>

/* Ends the call with it. The message is borrowed. */
void answer_send(struct exchange *exchange, const ProtobufCMessage *message);
