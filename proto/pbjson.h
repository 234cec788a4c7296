// SPDX-License-Identifier: Apache-2.0
/*
 * proto3 JSON → message, driven by protobuf-c's descriptors alone: one converter for schema
 * objects, requests of the HTTP gateway and configuration files.
 *
 *     text ── jansson ──▶ tree ── pbjson_message ──▶ message
 *
 * Accepted: field names in lowerCamelCase or as in the .proto file; what pbjson_scalar accepts; RFC
 * 3339 texts for timestamps; null for an unset field. Unknown keys are ignored, a key that comes
 * twice is an error. What descriptors do not tell is derived: JSON names from proto names, maps
 * from repeated messages called <Field>Entry with a key and a value.
 */
#pragma once

#include "frame/error.h"
#include "frame/slice.h"

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

/* Messages within messages, and levels of the JSON text (jansson's own limit is 2,048). */
#define PBJSON_MAX_DEPTH 2000

/* A JSON text whose top is an object. NULL allocator: the message is the caller's, freed with
 * protobuf_c_message_free_unpacked. false: INVALID_ARGUMENT, the text names line and column, or the
 * field by its path ("tagFamilies[2].name: ..."). */
bool pbjson_read(struct slice text, const ProtobufCMessageDescriptor *descriptor,
                 ProtobufCAllocator *allocator, ProtobufCMessage **message_out,
                 struct error *err) MUST_CHECK;

/* The same from a tree, which stays the caller's. */
bool pbjson_message(const json_t *object, const ProtobufCMessageDescriptor *descriptor,
                    ProtobufCAllocator *allocator, ProtobufCMessage **message_out,
                    struct error *err) MUST_CHECK;
