// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/draw.h"

#include "tests/support/frame_random.h"

struct draw draw_begin(struct slice bytes)
{
    uint64_t chance = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < bytes.len; i++) {
        chance = (chance ^ bytes.ptr[i]) * UINT64_C(1099511628211);
    }
    return (struct draw){.rest = bytes, .chance = chance | 1};
}

uint8_t draw_byte(struct draw *draw)
{
    if (draw->rest.len == 0) {
        return (uint8_t)(random_next(&draw->chance) >> 32);
    }
    draw->rest.len--;
    return *draw->rest.ptr++;
}

uint64_t draw_number(struct draw *draw)
{
    uint64_t number = 0;
    for (size_t i = 0; i < sizeof number; i++) {
        number = number << 8 | draw_byte(draw);
    }
    return number;
}

size_t draw_below(struct draw *draw, size_t below)
{
    return draw_byte(draw) % below;
}

bool draw_once_in(struct draw *draw, size_t times)
{
    return draw_below(draw, times) == times - 1;
}
