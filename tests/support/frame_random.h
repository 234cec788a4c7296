// SPDX-License-Identifier: Apache-2.0
/* Repeatable chance for tests: numbers from a seed, frames of every role, type and kind of null. */
#pragma once

#include "tests/support/frame_builder.h"

/* The next number of the sequence that *state begins; state must not be 0. */
uint64_t random_next(uint64_t *state);
/* 0 … below-1; below must not be 0. */
size_t random_below(uint64_t *state, size_t below);

/* Frames of 0 to max_rows rows and up to 8 columns; cells of TagValue and FieldValue columns are
 * well-formed. Call frame_builder_free. */
struct frame_builder *frame_random(uint64_t *state, size_t max_rows);
