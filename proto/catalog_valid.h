// SPDX-License-Identifier: Apache-2.0
/* Which schema objects upstream uses: the others are ignored, so that an object which it would not
 * serve is not served here either. */
#pragma once

#include "proto/catalog.h"

/* false: INVALID_ARGUMENT, the text says what the object lacks. */
bool catalog_valid(enum schema_kind kind, const ProtobufCMessage *message,
                   struct error *err) MUST_CHECK;
