// SPDX-License-Identifier: Apache-2.0
/*
 * What leaves in one system call: a list of pieces in the order of the wire. Frame headers and
 * small payloads are copied into a staging buffer, large payloads stay where they are.
 *
 *     staging  | HEADERS | DATA header | small payload | DATA header |           | trailers |
 *     pieces   └────────────── 1 ──────────────────────┴── 2 ────────┘└─ 3: block ┘└─ 4 ──┘
 *
 * A gather exists only while something waits to be written, so idle connections do not pay for it.
 */
#pragma once

#include "frame/chain.h"

#include <sys/uio.h>

#define GATHER_PIECES      192
#define GATHER_STAGING     ((size_t)48 << 10)
#define GATHER_FRAME_BYTES ((size_t)16384) /* the largest frame that is put in at once */

struct gather {
    struct iovec pieces[GATHER_PIECES]; /* borrow: staging, or blocks of a chain */
    int first;                          /* not yet written */
    int end;
    size_t staged;
    struct chain spent; /* own: blocks that pieces point into and no other chain holds */
    uint8_t staging[GATHER_STAGING];
};

struct gather *gather_new(struct charge *charge);
void gather_free(struct gather **gather);

/* Is there room for any one more frame? Ask before each frame. */
bool gather_has_room(const struct gather *gather);
bool gather_is_empty(const struct gather *gather);

/* Copies bytes; at most a frame of GATHER_FRAME_BYTES and its header. */
void gather_copy(struct gather *gather, struct slice bytes);
/* Moves the first `len` bytes of a chain; at most GATHER_FRAME_BYTES. The chain's first block may
 * go on being referred to: before the chain ends, call gather_shelter. */
void gather_take(struct gather *gather, struct chain *chain, size_t len);
/* Keeps a block of `chain` that a piece points into. */
void gather_shelter(struct gather *gather, struct chain *chain);

/* `len` bytes of the front have been written. */
void gather_advance(struct gather *gather, size_t len);
