// SPDX-License-Identifier: Apache-2.0
/*
 * A protobuf writer that only appends: sizes are known before the first byte is written, so no
 * length is patched afterwards and nothing moves. Functions take the place to write at and return
 * the place behind; the caller has reserved it.
 */
#pragma once

#include "frame/slice.h"
#include "merge/arena.h"

enum pbw_type {
    PBW_VARINT = 0,
    PBW_FIXED64 = 1,
    PBW_BYTES = 2,
};

/* Bytes behind a reserved place that pbw_copy_short may write over. */
#define PBW_SPARE 16

static inline size_t pbw_varint_size(uint64_t value)
{
    /* One byte for each 7 bits: (bits * 9 + 64) / 64 is the same without a division by 7. */
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
    return (bits * 9 + 64) / 64;
}

uint8_t *pbw_varint_long(uint8_t *at, uint64_t value);

static inline uint8_t *pbw_varint(uint8_t *at, uint64_t value)
{
    if (value < 0x80) {
        *at = (uint8_t)value;
        return at + 1;
    }
    return pbw_varint_long(at, value);
}

static inline uint8_t *pbw_key(uint8_t *at, uint32_t number, enum pbw_type type)
{
    return pbw_varint(at, (uint64_t)number << 3 | (unsigned)type);
}

static inline size_t pbw_key_size(uint32_t number)
{
    return pbw_varint_size((uint64_t)number << 3);
}

static inline uint8_t *pbw_copy(uint8_t *at, struct slice bytes)
{
    if (bytes.len > 0) {
        memcpy(at, bytes.ptr, bytes.len);
    }
    return at + bytes.len;
}

/* Copies 16 bytes at a time: source and target have 16 spare bytes behind them. */
static inline uint8_t *pbw_copy_short(uint8_t *at, struct slice bytes)
{
#ifdef ARENA_POISONS
    return pbw_copy(at, bytes);
#endif
    if (bytes.len > 64) {
        return pbw_copy(at, bytes);
    }
    for (size_t i = 0; i < bytes.len; i += 16) {
        memcpy(at + i, bytes.ptr + i, 16);
    }
    return at + bytes.len;
}

/* A length-delimited field: key, length, then `len` bytes. */
static inline size_t pbw_bytes_size(uint32_t number, size_t len)
{
    return pbw_key_size(number) + pbw_varint_size(len) + len;
}

static inline uint8_t *pbw_bytes(uint8_t *at, uint32_t number, struct slice bytes)
{
    at = pbw_key(at, number, PBW_BYTES);
    at = pbw_varint(at, bytes.len);
    return pbw_copy(at, bytes);
}
