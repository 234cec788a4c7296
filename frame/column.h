// SPDX-License-Identifier: Apache-2.0
/* Roles and types of a frame's columns: the byte on the wire, the name in texts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* X(constant, wire byte, name in dumps and errors) */
#define COLUMN_ROLES(X)                                                                            \
    X(COLUMN_TIMESTAMP, 1, "timestamp")                                                            \
    X(COLUMN_VERSION, 2, "version")                                                                \
    X(COLUMN_SERIES, 3, "series_id")                                                               \
    X(COLUMN_SHARD, 4, "shard_id")                                                                 \
    X(COLUMN_TAG, 5, "tag")                                                                        \
    X(COLUMN_FIELD, 6, "field")

#define COLUMN_TYPES(X)                                                                            \
    X(COLUMN_INT64, 1, "int64")                                                                    \
    X(COLUMN_FLOAT64, 2, "float64")                                                                \
    X(COLUMN_STRING, 3, "string")                                                                  \
    X(COLUMN_BYTES, 4, "bytes")                                                                    \
    X(COLUMN_TAG_VALUE, 5, "tag_value")                                                            \
    X(COLUMN_FIELD_VALUE, 6, "field_value")

#define COLUMN_ENUM(constant, byte, text) constant = (byte),
enum column_role { COLUMN_ROLES(COLUMN_ENUM) };
enum column_type { COLUMN_TYPES(COLUMN_ENUM) };
#undef COLUMN_ENUM

/* NULL for a byte that is not in the table. */
const char *column_role_name(uint8_t role);
const char *column_type_name(uint8_t type);

/* Metadata columns are int64; tags are everything but FieldValue, fields but TagValue. False also
 * for bytes that are not in the tables. */
bool column_pair_allowed(uint8_t role, uint8_t type);
