// SPDX-License-Identifier: Apache-2.0
/*
 * Message → proto3 JSON, driven by protobuf-c's descriptors: the way back of pbjson.
 *
 * lowerCamelCase names in the order of field numbers, no white space; 64-bit numbers as strings,
 * enums by name, bytes as base64, timestamps as RFC 3339, NaN and infinities as strings.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>

enum pbjson_fields {
    PBJSON_SET, /* what differs from its default */
    PBJSON_ALL, /* unset fields, too, but for members of a oneof */
};

/* The text, freed by the caller; NULL when there is no memory. A string that is not UTF-8 is
 * written with U+FFFD in place of each bad byte. */
char *pbjson_write(const ProtobufCMessage *message, enum pbjson_fields fields);
