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

/* The low 56 bits as 7 bits in each of 8 bytes. */
static inline uint64_t pbw_spread(uint64_t value)
{
    value = (value & 0x000000000fffffff) | (value & 0x00fffffff0000000) << 4;
    value = (value & 0x00003fff00003fff) | (value & 0x0fffc0000fffc000) << 2;
    return (value & 0x007f007f007f007f) | (value & 0x3f803f803f803f80) << 1;
}

/* Without a loop; `size` is pbw_varint_size(value). Writes over up to 7 bytes behind it. */
static inline uint8_t *pbw_varint_sized(uint8_t *at, uint64_t value, size_t size)
{
    /* Every byte but the last one says that more follow. */
    uint64_t more = 0x8080808080808080;
    if (size > 8) {
        uint64_t low = pbw_spread(value) | more;
        memcpy(at, &low, sizeof low);
        at[8] = (uint8_t)(value >> 56 | (size > 9 ? 0x80 : 0));
        at[size - 1] = size > 9 ? (uint8_t)(value >> 63) : at[8];
        return at + size;
    }
    uint64_t bytes = pbw_spread(value) | (more & ((UINT64_C(1) << (8 * (size - 1))) - 1));
    memcpy(at, &bytes, sizeof bytes);
    return at + size;
}

uint8_t *pbw_varint_long(uint8_t *at, uint64_t value);

/* Writes over nothing. */
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

/* Copies in steps of 16 bytes, the last one overlapping the one before it. Source and target have
 * 16 spare bytes behind them: fewer than 16 are copied with their neighbours. */
static inline uint8_t *pbw_copy_short(uint8_t *at, struct slice bytes)
{
#if ASAN
    return pbw_copy(at, bytes);
#else
    const uint8_t *from = bytes.ptr;
    size_t len = bytes.len;
    if (len <= 16) {
        if (len > 0) {
            memcpy(at, from, 16);
        }
        return at + len;
    }
    if (len > 64) {
        memcpy(at, from, len);
        return at + len;
    }
    memcpy(at, from, 16);
    if (len > 32) {
        memcpy(at + 16, from + 16, 16);
        memcpy(at + len - 32, from + len - 32, 16);
    }
    memcpy(at + len - 16, from + len - 16, 16);
    return at + len;
#endif
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
