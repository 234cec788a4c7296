// SPDX-License-Identifier: Apache-2.0
/*
 * How many rows a node's answer has, told from its first bytes, before the rest of it is there:
 *
 *     SendResponse   message_id · body { magic · version · … rows … | columns, and their values }
 *                    └───────────────── a head of 64 bytes is enough ─┘
 */
#pragma once

#include "frame/slice.h"

/* `head`: the first bytes of a SendResponse of `declared`. `accepted`: as decode_view. 0 when it is
 * not told: the head is too short, the frame stands behind a trace, there is none. */
size_t rows_of_response(struct slice head, size_t declared, unsigned accepted);
