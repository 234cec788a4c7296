// SPDX-License-Identifier: Apache-2.0
/*
 * Where merged rows go. A sink is told the layout once, before the first row, then gets row after
 * row; cells are borrowed for the length of the call. It returns false to stop, with err filled.
 */
#pragma once

#include "frame/error.h"
#include "merge/cell.h"
#include "merge/layout.h"

struct row {
    size_t group;      /* index in the plan's groups; 0 for aggregates */
    bool has_time;     /* rows of a scan; false for aggregates: no timestamp in the answer */
    int64_t timestamp; /* nanoseconds since the epoch */
    int64_t version;
    uint64_t series;
    const struct cell *cells; /* borrow; layout order, hidden ones included */
};

struct sink {
    bool (*begin)(struct sink *sink, const struct layout *layout, struct error *err);
    bool (*row)(struct sink *sink, const struct row *row, struct error *err);
};
