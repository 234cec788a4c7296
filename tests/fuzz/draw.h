// SPDX-License-Identifier: Apache-2.0
/* Choices made from an input: its bytes one by one, and behind its end chance that begins with all
 * of them, so that any input is long enough and the same one always makes the same. */
#pragma once

#include "frame/slice.h"

struct draw {
    struct slice rest; /* borrow */
    uint64_t chance;
};

struct draw draw_begin(struct slice bytes);
uint8_t draw_byte(struct draw *draw);
uint64_t draw_number(struct draw *draw); /* any */
/* 0 … below-1; below is 256 at most, and not 0. */
size_t draw_below(struct draw *draw, size_t below);
/* One time in `times`. */
bool draw_once_in(struct draw *draw, size_t times);
