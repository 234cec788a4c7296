// SPDX-License-Identifier: Apache-2.0
#include "proto/pbw.h"

uint8_t *pbw_varint_long(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}
