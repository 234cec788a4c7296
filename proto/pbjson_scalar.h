// SPDX-License-Identifier: Apache-2.0
/*
 * One JSON value → one scalar of a message, by proto3's rules: 64-bit numbers as strings or
 * numbers, whole floats as integers, enums by name or number, bytes as base64.
 */
#pragma once

#include "frame/error.h"

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

/* Fills `member` (of the field's type, as protobuf-c lays it out); strings and bytes come from the
 * allocator. false: INVALID_ARGUMENT with what was expected and found, without the path. */
bool pbjson_scalar_read(const json_t *value, const ProtobufCFieldDescriptor *field,
                        ProtobufCAllocator *allocator, void *member, struct error *err) MUST_CHECK;

/* The size of one value of a repeated field. */
size_t pbjson_scalar_size(ProtobufCType type);

/* "a string", "null", ... for texts. */
const char *pbjson_scalar_kind(const json_t *value);

/* null is a value of this field, not the absence of one. */
bool pbjson_scalar_takes_null(const ProtobufCFieldDescriptor *field);
