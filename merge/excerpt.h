// SPDX-License-Identifier: Apache-2.0
/*
 * The rows of a frame that are still needed, copied into a region when they are few: a frame of
 * megabytes is not held for a handful of rows, nor for the constant that they all share.
 *
 *     message | row row row … row … row row |      view ──▶ region | row row row | constant |
 *                       └─── needed ──┘                            in merge order
 */
#pragma once

#include "frame/progress.h"
#include "merge/arena.h"
#include "merge/order.h"

/* Where rows begin and how many there are, as places in merge order. */
struct excerpt {
    const struct view *view;   /* borrow: the frame */
    const struct order *order; /* borrow: of the view's rows */
    size_t first;
    size_t count;
};

/* So few of the frame's rows (one in `part`), and so large a message, that copying costs less than
 * holding. */
bool excerpt_pays(const struct excerpt *excerpt, size_t part, size_t message_bytes);

/* How many rows from the first place on can be among the first `wanted` rows of a merge of this
 * frame with others: `wanted` different records, and the rest of the last one's key. When they are
 * more than `most`, it says so by any number above that. Counted in shares. */
struct excerpt_count {
    const struct order *order; /* borrow */
    uint64_t wanted;
    size_t most;
    const struct column *series; /* borrow: view */
    const struct column *time;   /* borrow: view */
    size_t place;                /* rows that have been looked at; in the end the number */
    struct key keys[2];          /* of the row at this place and the one before, by turns */
    uint64_t records;            /* that are surely different */
    uint64_t last_series;
    int64_t last_time;
};

struct excerpt_count excerpt_count(const struct view *view, const struct order *order,
                                   uint64_t wanted, size_t most);
/* True: place is the number. */
bool excerpt_count_some(struct excerpt_count *count, size_t *left);

/* What is being copied of a column. */
enum excerpt_part {
    EXCERPT_HEAD,
    EXCERPT_BITS,    /* which values are null */
    EXCERPT_NUMBERS, /* the values */
    EXCERPT_STARTS,  /* or where texts begin, */
    EXCERPT_TEXTS,   /* and these */
};

/* A view of these rows alone, in merge order, in the making. */
struct excerpt_copy {
    struct excerpt excerpt;
    struct view view; /* in the region, with all that it shows */
    size_t column;    /* the one that is being copied */
    enum excerpt_part part;
    size_t done; /* values of it */
    uint8_t *bits;
    uint64_t *numbers;
    uint32_t *starts;
    uint8_t *texts;
};

/* The excerpt, and what it refers to, stays as it is until the copy is done. */
void excerpt_begin(struct excerpt_copy *copy, const struct excerpt *excerpt, struct arena *arena);
/* True: the view is whole. */
bool excerpt_some(struct excerpt_copy *copy, struct arena *arena, size_t *left);
