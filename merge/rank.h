// SPDX-License-Identifier: Apache-2.0
/*
 * The place of a row among all rows of a query, whatever node sent it and whenever: the lowest
 * rank of a group's rows gives the tags that it carries, and orders the groups.
 *
 *                sort key                  group           time    series
 *     FOLD       time, or the order tag    request group   time    series id
 *     PARTIALS   request group and node    0               0       row in the frame
 */
#pragma once

#include "merge/key.h"

struct rank {
    struct key key; /* borrow: as the owner says */
    size_t group;
    int64_t time;
    uint64_t series;
};

/* <0, 0, >0. Only the sort key has a direction. */
static inline int rank_compare(const struct rank *a, const struct rank *b, bool descending)
{
    int order = key_compare(&a->key, &b->key);
    if (order != 0) {
        return descending ? -order : order;
    }
    if (a->group != b->group) {
        return a->group < b->group ? -1 : 1;
    }
    if (a->time != b->time) {
        return a->time < b->time ? -1 : 1;
    }
    return (a->series > b->series) - (a->series < b->series);
}
