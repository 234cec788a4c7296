// SPDX-License-Identifier: Apache-2.0
/*
 * The rows of an aggregation, asked for in parts of the time range, so that they need not fit the
 * query's memory all at once.
 *
 *     memory   |-- groups so far --|---- a part's answers ----|-- to merge them --|-- ahead --|
 *              0                  kept                      limit                          budget
 *
 * The first question is for the whole range, and for most queries the only one. When the answers do
 * not fit, by what nodes declare or by what becomes of them, the range is cut (slices.h) and asked
 * again; from then on each part is as long as the one before lets expect to cost its share of the
 * query's memory (split.h). --aggregation-slice-size binds the answers to each question, the first
 * one included.
 *
 * Parts are folded one after the other. Once one was, and told what the next ones cost, some are
 * asked ahead of their turn (rounds.h), as many as there is room for; not for a traced query, whose
 * spans tell one part after the other, and not in the second half of the questions that
 * --aggregation-max-slices allows: longer parts make them do.
 */
#pragma once

#include "liaison/query/slices.h"
#include "liaison/query/split.h"
#include "liaison/query/work.h"

struct measure_parts {
    struct work *work;             /* borrow */
    const struct request *request; /* borrow: planned */
    const char *obstacle;          /* borrow: region; why the range cannot be cut; NULL: it can */
    struct slices slices;          /* at the part whose turn it is */
    bool cut;                      /* the range is asked for in parts */
    bool shortest;                 /* the part is a millisecond */
    size_t cuts;                   /* of the part so far */
    bool has_rows;                 /* the last one that was folded */
    bool may_cut;                  /* the part that is asked for may be cut once more */
    size_t asked;       /* parts so far, in their turn; those that did not fit included */
    size_t calls;       /* of one part */
    struct split split; /* as it was when it became the part's turn */
    size_t cost;        /* what it held besides when all answers were in */
    size_t bytes;       /* of the answers */
    size_t least_cost;  /* of the dearest millisecond that was asked for alone */
    size_t least_bytes;
    uint64_t length; /* of parts to come, by the last one that was folded; 0 = none was */
    size_t expected; /* bytes of the answers to one of them; 0 = it does not tell */
};

/* The whole range is asked for next. The plan of the request is to FOLD. */
void measure_parts_init(struct measure_parts *parts, struct work *work,
                        const struct request *request);
/* It is a part's turn, of so many calls: sets what its answers may cost, and those of parts ahead.
 */
void measure_parts_begin(struct measure_parts *parts, size_t calls);
/* May one more part be asked ahead? Then chooses it. */
bool measure_parts_ahead(const struct measure_parts *parts, struct round *round);
/* A part's range; the two moments are the caller's. */
struct measure_parts_range {
    Banyandb__Model__V1__TimeRange range;
    Google__Protobuf__Timestamp begin;
    Google__Protobuf__Timestamp end;
};
const Banyandb__Model__V1__TimeRange *measure_parts_range(const struct measure_parts *parts,
                                                          const struct slices *slice,
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
