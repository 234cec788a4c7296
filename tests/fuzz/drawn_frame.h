// SPDX-License-Identifier: Apache-2.0
/*
 * What a node may answer, drawn from an input: a frame of rows or of partials as it ought to be,
 * one with odd columns, one with a few other bytes, or any bytes at all.
 *
 *     rows      time, version, series · tags f.t, f.k, f.pad · field v
 *     partials  shard · tags f.k, f.t · fields v, v__agg_count
 *
 * Numbers are drawn from few, so that keys, series and times meet.
 */
#pragma once

#include "frame/slice.h"
#include "tests/fuzz/draw.h"

struct drawn_frame {
    uint8_t *bytes; /* own: free() it */
    size_t begin;   /* where in it the frame begins */
    size_t len;     /* of all */
};

struct drawn_frame drawn_frame(struct draw *draw, bool partials);
