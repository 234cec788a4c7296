// SPDX-License-Identifier: Apache-2.0
/* Names of fields in JSON, and which repeated fields are maps: derived from descriptors. */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include <stdbool.h>

/* The field called so in lowerCamelCase or as in the .proto file; NULL = none. */
const ProtobufCFieldDescriptor *pbjson_name_field(const ProtobufCMessageDescriptor *descriptor,
                                                  const char *key);

/* A map: repeated messages <Field>Entry {key = 1, value = 2}. */
bool pbjson_name_is_map(const ProtobufCFieldDescriptor *field);
