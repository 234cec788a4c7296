// SPDX-License-Identifier: Apache-2.0
/*
 * The rows of an aggregation, asked for in parts of the time range, so that they need not fit the
 * query's memory all at once.
 *
 *     memory   |-- groups so far --|---- a part's answers ----|-- to merge them --|
 *              0                before                      limit             budget
 *
 * The first question is for the whole range, and for most queries the only one. When the answers do
 * not fit, by what nodes declare or by what becomes of them, the range is cut (slices.h) and asked
 * again; from then on each part is as long as the one before lets expect to cost a quarter of the
 * query's memory. Parts are asked and folded one after the other. --aggregation-slice-size binds
 * the answers to each question, the first one included.
 */
#pragma once

#include "liaison/query/slices.h"
#include "liaison/query/work.h"

struct measure_parts {
    struct work *work;             /* borrow */
    const struct request *request; /* borrow: planned */
    const char *obstacle;          /* borrow: region; why the range cannot be cut; NULL: it can */
    struct slices slices;
    bool cut;          /* the range is asked for in parts */
    bool least;        /* the part is a millisecond */
    size_t cuts;       /* of the part so far */
    bool has_rows;     /* the last one that was folded */
    bool may_cut;      /* the part that is asked for may be cut once more */
    size_t asked;      /* parts so far, those that did not fit included */
    size_t calls;      /* of one part */
    size_t before;     /* what the query held when the part was asked for */
    size_t cost;       /* what it held besides when all answers were in */
    size_t bytes;      /* of the answers */
    size_t least_cost; /* of the dearest millisecond that was asked for alone */
    size_t least_bytes;
};

/* The whole range is asked for next. The plan of the request is to FOLD. */
void measure_parts_init(struct measure_parts *parts, struct work *work,
                        const struct request *request);
/* A part is about to be asked for with so many calls: sets what its answers may cost. */
void measure_parts_begin(struct measure_parts *parts, size_t calls);
/* The part's range; the two moments are the caller's. */
struct measure_parts_range {
    Banyandb__Model__V1__TimeRange range;
    Google__Protobuf__Timestamp begin;
    Google__Protobuf__Timestamp end;
};
const Banyandb__Model__V1__TimeRange *measure_parts_range(const struct measure_parts *parts,
                                                          struct measure_parts_range *room);
/* All answers are in, with rows or without any; what they may not cost is free for merging them. */
void measure_parts_end(struct measure_parts *parts, bool has_rows);
/* The part is too much: shortens it, to be asked for again. False: it cannot be, `why` tells that
 * as well. */
bool measure_parts_shorten(struct measure_parts *parts, struct error *why);
/* The part, which is not the last, is folded: goes on to the next. */
void measure_parts_next(struct measure_parts *parts);

static inline bool measure_parts_is_last(const struct measure_parts *parts)
{
    return slices_is_last(&parts->slices);
}
