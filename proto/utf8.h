// SPDX-License-Identifier: Apache-2.0
/* Is a text UTF-8? protobuf-c does not ask, clients of proto3 do. */
#pragma once

#include "frame/slice.h"

/* Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. */
bool utf8_valid(struct slice text);

/* A copy with U+FFFD in place of each byte that is not part of a well-formed sequence; freed by the
 * caller. */
char *utf8_replace(struct slice text);
