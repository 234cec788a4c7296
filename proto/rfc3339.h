// SPDX-License-Identifier: Apache-2.0
/* Moments as text: 2026-11-30T10:50:00.123456789Z, or with an offset such as +02:00. */
#pragma once

#include "frame/slice.h"
#include "proto/moment.h"

/* Years 1 to 9999, up to 9 digits of a fraction; false = not such a text, or no such day or hour.
 */
bool rfc3339_parse(struct slice text, struct moment *moment);

#define RFC3339_SIZE 40 /* of the longest text, NUL included */

/* In UTC, with no fraction or 3, 6 or 9 digits of one, as proto3 JSON has it. */
void rfc3339_print(struct moment moment, char text[RFC3339_SIZE]);
