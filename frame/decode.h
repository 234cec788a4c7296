// SPDX-License-Identifier: Apache-2.0
/*
 * Frame bytes → view. The version byte picks the layout: version 4 lives in decode_v4.c alone,
 * version 3 in decode_v3.c alone; both fill the same view.
 *
 * Everything that the layouts forbid is refused with DATA_LOSS and a text that names the column,
 * what was found and what was expected. A version that is not accepted is refused with
 * FAILED_PRECONDITION and the whole-cluster-upgrade rule.
 */
#pragma once

#include "frame/error.h"
#include "frame/progress.h"
#include "frame/slice.h"
#include "frame/view.h"
#include "frame/wire.h"

/* Memory for the view's columns and for version 3's string tables; never returns NULL, freed by
 * its owner all at once. */
struct room {
    void *(*alloc)(void *owner, size_t size, size_t align);
    void *owner; /* borrow: outlives the view */
};

/* The version that a frame says it is of, 0 when it is too short to say. */
static inline uint8_t decode_version(struct slice frame)
{
    return frame.len > 4 ? frame.ptr[4] : 0;
}

enum decode_versions {
    DECODE_V3 = 1 << 3,
    DECODE_V4 = 1 << 4,
};

/* How many rows a frame says it has, told from its first bytes; it has `len` at most. 0 when they
 * are too few to tell, when its version is not accepted, or when no frame of that length can have
 * as many: then decoding it tells what is wrong, as it does of a smaller lie. */
size_t decode_rows(struct slice start, size_t len, unsigned accepted);

/* `frame` may start anywhere; if a version 4 frame does not start on a multiple of 8, one aligned
 * copy is made in the room. `accepted` is a set of enum decode_versions bits. 16 bytes behind the
 * frame must be readable (messages guarantee it). */
bool decode_view(struct slice frame, unsigned accepted, const struct room *room, struct view *view,
                 struct error *err) MUST_CHECK;

/* What is being done with a column. */
enum decode_part {
    DECODE_HEAD,  /* its first bytes are read */
    DECODE_BITS,  /* nulls are counted */
    DECODE_TURN,  /* version 3, where a bit says null: turned round */
    DECODE_TABLE, /* version 3: begins and ends of the strings; version 4: offsets are checked */
};

/* The same in shares. */
struct decode {
    struct slice frame; /* borrow: until it is done; after that the view does */
    unsigned accepted;
    struct room room;
    struct view *view; /* borrow: likewise */

    bool begun;
    uint8_t *copy; /* borrow: the room; NULL: the frame is read where it lies */
    size_t copied;
    struct wire wire; /* of what follows the header */
    size_t rows;
    size_t columns;
    uint64_t expanded; /* version 4: bytes to which the constants so far would grow */

    /* The last column; at HEAD it is whole. */
    enum decode_part part;
    size_t done;         /* values that this part has looked at */
    size_t ones;         /* bits among them */
    const uint8_t *bits; /* borrow: the frame; as they were sent */
    uint32_t values_len; /* version 4 */
    uint8_t *validity;   /* borrow: the room; version 3, as what follows */
    size_t at;           /* bytes of strings that have been read */
    uint32_t *starts;    /* borrow: the room */
    uint32_t *ends;      /* borrow: the room */
};

void decode_begin(struct decode *decode, struct slice frame, unsigned accepted,
                  const struct room *room, struct view *view);
enum progress decode_some(struct decode *decode, size_t *left, struct error *err) MUST_CHECK;

#define DECODE_COLUMNS_MAX     16384u /* of a frame: what is done once for all of them is short */
#define DECODE_CONSTANT_BUDGET 268435456u /* bytes to which a frame's constants may expand */
