// SPDX-License-Identifier: Apache-2.0
/*
 * Pieces that touch are merged, so that a turn's worth of small answers is one piece. A block
 * leaves its chain when its last byte has become part of a piece; it is freed when all pieces are
 * written.
 */
#include "liaison/http2/gather.h"

#include "liaison/own.h"

#include <assert.h>
#include <stdlib.h>

#define FRAME_HEADER 10  /* and a padding length */
#define SMALL        512 /* copying these costs less than a piece of their own */
/* A frame's header, payload pieces larger than SMALL and the copied ones between them. */
#define FRAME_PIECES ((int)(2 * (GATHER_FRAME_BYTES / SMALL) + 2))

struct gather *gather_new(struct charge *charge)
{
    struct gather *gather = own_checked(malloc(sizeof *gather));
    gather->first = 0;
    gather->end = 0;
    gather->staged = 0;
    chain_init(&gather->spent, charge);
    charge_add(charge, CHARGE_WIRE, sizeof *gather);
    return gather;
}

void gather_free(struct gather **gather)
{
    struct gather *freed = *gather;
    *gather = NULL;
    if (freed != NULL) {
        charge_drop(freed->spent.charge, CHARGE_WIRE, sizeof *freed);
        chain_fini(&freed->spent);
        free(freed);
    }
}

bool gather_has_room(const struct gather *gather)
{
    return GATHER_PIECES - gather->end >= FRAME_PIECES &&
           GATHER_STAGING - gather->staged >= GATHER_FRAME_BYTES + FRAME_HEADER;
}

bool gather_is_empty(const struct gather *gather)
{
    return gather->first == gather->end;
}

static void point(struct gather *gather, const uint8_t *ptr, size_t len)
{
    if (!gather_is_empty(gather)) {
        struct iovec *last = &gather->pieces[gather->end - 1];
        if ((const uint8_t *)last->iov_base + last->iov_len == ptr) {
            last->iov_len += len;
            return;
        }
    }
    assert(gather->end < GATHER_PIECES);
    struct iovec *piece = &gather->pieces[gather->end++];
    memcpy(&piece->iov_base, &ptr, sizeof ptr); /* only read, but not declared const */
    piece->iov_len = len;
}

void gather_copy(struct gather *gather, struct slice bytes)
{
    assert(bytes.len <= GATHER_STAGING - gather->staged);
    if (bytes.len == 0) {
        return;
    }
    uint8_t *ptr = gather->staging + gather->staged;
    memcpy(ptr, bytes.ptr, bytes.len);
    gather->staged += bytes.len;
    point(gather, ptr, bytes.len);
}

void gather_take(struct gather *gather, struct chain *chain, size_t len)
{
    assert(len <= GATHER_FRAME_BYTES);
    while (len > 0) {
        const struct slice front = chain_front(chain);
        const size_t part = front.len < len ? front.len : len;
        if (part <= SMALL) {
            gather_copy(gather, slice_of(front.ptr, part));
        } else {
            point(gather, front.ptr, part);
        }
        chain_pass(chain, part, &gather->spent);
        len -= part;
    }
}

void gather_shelter(struct gather *gather, struct chain *chain)
{
    if (gather != NULL && !gather_is_empty(gather)) {
        chain_shift(chain, &gather->spent);
    }
}

void gather_advance(struct gather *gather, size_t len)
{
    while (len > 0) {
        struct iovec *piece = &gather->pieces[gather->first];
        const size_t part = piece->iov_len < len ? piece->iov_len : len;
        piece->iov_base = (uint8_t *)piece->iov_base + part;
        piece->iov_len -= part;
        len -= part;
        if (piece->iov_len == 0) {
            gather->first++;
        }
    }
    if (gather_is_empty(gather)) {
        gather->first = 0;
        gather->end = 0;
        gather->staged = 0;
        chain_fini(&gather->spent);
    }
}
