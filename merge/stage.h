// SPDX-License-Identifier: Apache-2.0
/*
 * A step on a row's way from the merge to the answer: a sink that writes to the next sink.
 *
 *     begin(layout) ── row … row ── drain … drain until DONE
 *
 * Some stages must see all rows before they can give the first one (groups, top). They hold rows
 * back and are drained when the stage before has given its last, a bounded amount of work at a
 * time, so that the caller's loop can turn.
 */
#pragma once

#include "merge/row.h"

enum stage_state { STAGE_MORE, STAGE_DONE, STAGE_FAILED };

struct stage {
    struct sink sink;  /* first: what the step before writes to */
    struct sink *next; /* borrow: outlives the stage */
    /* Gives at most one of the rows that are held back to the next sink, or does as much work as
     * that takes. NULL: the stage holds nothing back. */
    enum stage_state (*drain)(struct stage *stage, struct error *err);
};
