// SPDX-License-Identifier: Apache-2.0
/* What decode.c and the two layouts (decode_v4.c, decode_v3.c) share; nobody else includes it. */
#pragma once

#include "frame/decode.h"
#include "frame/wire.h"

#define DECODE_MAGIC_LEN  4
#define DECODE_VERSION_AT 4

/* Reads the header, from which rows, columns and wire are set. The magic and the version byte were
 * checked. For version 4 the frame starts on a multiple of 8. */
bool decode_v4_header(struct decode *decode, struct error *err) MUST_CHECK;
bool decode_v3_header(struct decode *decode, struct error *err) MUST_CHECK;

/* As decode_rows, of frames that begin as these do. */
size_t decode_v4_rows(struct slice start, size_t len);
size_t decode_v3_rows(struct slice start, size_t len);

/* Does the part that the last column of the view is at, as far as the allowance reaches, and goes
 * to the next one when it is done; `part` tells. At HEAD the column is zeroed. */
bool decode_v4_part(struct decode *decode, size_t *left, struct error *err) MUST_CHECK;
bool decode_v3_part(struct decode *decode, size_t *left, struct error *err) MUST_CHECK;

static inline void decode_go_to(struct decode *decode, enum decode_part part)
{
    decode->part = part;
    decode->done = 0;
    decode->ones = 0;
}

static inline struct column *decode_column(const struct decode *decode)
{
    return &decode->view->columns[decode->view->column_count - 1];
}

/* Sets role and type from their bytes; refuses what column_pair_allowed forbids and a family on
 * anything but a tag. Name and family are there already. */
bool decode_kind(struct column *column, uint8_t role, uint8_t type, struct error *err) MUST_CHECK;

/* Puts the column's index, and its name when that was read, before the text; returns false. */
bool decode_blame(struct error *err, size_t index, const struct column *column);

/* Counts the next of `count` bits: true when all are. Up to 7 bytes behind them are read. */
bool decode_count(struct decode *decode, size_t count, size_t *left);

#define DECODE_BITS_A_STEP 1024 /* a multiple of 64 */
