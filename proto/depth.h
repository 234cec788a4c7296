// SPDX-License-Identifier: Apache-2.0
/*
 * What protobuf-c must not be given. It recurses without a limit, copies whatever it finds, ends
 * strings at their first NUL, does not look at UTF-8, and gives no reason when it fails. So the
 * bytes of a client's message are walked first, along the descriptors and without recursion.
 *
 *     bytes ── depth_check ──▶ memory needed ── within the budget? ──▶ protobuf-c
 */
#pragma once

#include "frame/error.h"
#include "frame/slice.h"

#include <protobuf-c/protobuf-c.h>

/* Levels of criteria; each is two messages, and what stands in the last one a few more. */
#define DEPTH_MAX_CRITERIA 1000
#define DEPTH_MAX_MESSAGES (2 * DEPTH_MAX_CRITERIA + 8)

/* false:
 * - INTERNAL in the words of gRPC servers: malformed bytes, a wrong wire type, a string that is not
 *   UTF-8;
 * - INVALID_ARGUMENT: nested too deep, or a NUL in a string that is a name. A NUL in a tag's value
 *   (model.v1.Str, StrArray) passes: who sends such a value on has to send the bytes as they came.
 * memory_out: at least what protobuf-c will ask its allocator for. */
bool depth_check(struct slice bytes, const ProtobufCMessageDescriptor *descriptor,
                 size_t *memory_out, struct error *err) MUST_CHECK;

/* What is passed on to clients, most of which give up at 100 messages within each other: can one of
 * them read it as a part of an answer? */
bool depth_is_readable(struct slice bytes, const ProtobufCMessageDescriptor *descriptor) MUST_CHECK;
#define DEPTH_READABLE_MESSAGES 64

/* What a server says, which goes no further: the memory alone, whatever texts hold. False:
 * malformed, or nested too deep. */
bool depth_measure(struct slice bytes, const ProtobufCMessageDescriptor *descriptor,
                   size_t *memory_out) MUST_CHECK;
