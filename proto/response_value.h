// SPDX-License-Identifier: Apache-2.0
/*
 * A cell as TagValue or FieldValue bytes. Both messages are a oneof of the same small wrappers;
 * only the keys of some members differ.
 *
 *     null  08 00                       int  K len { 08 varint }, 0: K 00
 *     str   12 len { 0a len bytes }     float  2a 09 { 09 8 bytes }, +0.0: 2a 00
 *     binary  K len bytes               arrays, timestamps  as they came
 */
#pragma once

#include "merge/cell.h"
#include "proto/pbw.h"

/* The keys by which TagValue and FieldValue differ. */
struct response_value_keys {
    uint8_t int_key;
    uint8_t binary_key;
};

/* Shorter strings have lengths of one byte. */
#define RESPONSE_VALUE_SHORT 126

#define RESPONSE_VALUE_TAG   ((struct response_value_keys){.int_key = 0x22, .binary_key = 0x32})
#define RESPONSE_VALUE_FIELD ((struct response_value_keys){.int_key = 0x1a, .binary_key = 0x22})

static inline size_t response_value_bytes_size(size_t len)
{
    return 1 + pbw_varint_size(len) + len;
}

static inline size_t response_value_string_size(size_t len)
{
    if (len < RESPONSE_VALUE_SHORT) {
        return len == 0 ? 2 : len + 4;
    }
    return response_value_bytes_size(response_value_bytes_size(len));
}

static inline bool response_value_is_zero(double real)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits == 0; /* -0.0 is a value of its own */
}

static inline size_t response_value_size(const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_NULL:
        return 2;
    case CELL_INT:
        return cell->number.i == 0 ? 2 : 3 + pbw_varint_size((uint64_t)cell->number.i);
    case CELL_FLOAT:
        return response_value_is_zero(cell->number.f) ? 2 : 11;
    case CELL_STRING:
        return response_value_string_size(cell->bytes.len);
    case CELL_BINARY:
        return response_value_bytes_size(cell->bytes.len);
    case CELL_STRINGS:
    case CELL_INTS:
    case CELL_TIME:
        return cell->bytes.len;
    }
    return 0;
}

/* All writers below write response_value_size bytes; PBW_SPARE more may be written over. */

static inline uint8_t *response_value_int(uint8_t *at, uint8_t key, int64_t number)
{
    at[0] = key;
    if (number == 0) {
        at[1] = 0;
        return at + 2;
    }
    size_t size = pbw_varint_size((uint64_t)number);
    at[1] = (uint8_t)(1 + size);
    at[2] = 0x08;
    return pbw_varint_sized(at + 3, (uint64_t)number, size);
}

static inline uint8_t *response_value_float(uint8_t *at, double real)
{
    at[0] = 0x2a;
    if (response_value_is_zero(real)) {
        at[1] = 0;
        return at + 2;
    }
    at[1] = 9;
    at[2] = 0x09;
    memcpy(at + 3, &real, sizeof real);
    return at + 11;
}

static inline uint8_t *response_value_string(uint8_t *at, struct slice text)
{
    at[0] = 0x12;
    if (text.len == 0) {
        at[1] = 0;
        return at + 2;
    }
    if (text.len < RESPONSE_VALUE_SHORT) {
        at[1] = (uint8_t)(text.len + 2);
        at[2] = 0x0a;
        at[3] = (uint8_t)text.len;
        return pbw_copy_short(at + 4, text);
    }
    at = pbw_varint(at + 1, response_value_bytes_size(text.len));
    *at++ = 0x0a;
    at = pbw_varint(at, text.len);
    return pbw_copy(at, text);
}

static inline uint8_t *response_value_write(uint8_t *at, struct response_value_keys keys,
                                            const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_NULL:
        at[0] = 0x08;
        at[1] = 0;
        return at + 2;
    case CELL_INT:
        return response_value_int(at, keys.int_key, cell->number.i);
    case CELL_FLOAT:
        return response_value_float(at, cell->number.f);
    case CELL_STRING:
        return response_value_string(at, cell->bytes);
    case CELL_BINARY:
        *at++ = keys.binary_key;
        at = pbw_varint(at, cell->bytes.len);
        return pbw_copy_short(at, cell->bytes);
    case CELL_STRINGS:
    case CELL_INTS:
    case CELL_TIME:
        return pbw_copy_short(at, cell->bytes);
    }
    return at;
}
