// SPDX-License-Identifier: Apache-2.0
/*
 * The stages between the merge and the answer, as the plan wants them.
 *
 *     rows ─▶ [first | intake, fold] ─▶ [top] ─▶ cut ─▶ sink
 *
 * begin ── row … row ── drain until DONE. Whoever feeds it asks pipeline_is_full after each step
 * and stops when the answer has all its rows.
 */
#pragma once

#include "merge/cut.h"
#include "merge/first.h"
#include "merge/intake.h"
#include "merge/merge.h"
#include "merge/top.h"

struct pipeline {
    struct sink *head; /* borrow: one of the stages */
    struct first first;
    struct intake intake;
    struct fold fold;
    struct top top;
    struct cut cut;
    struct stage *holding[2]; /* borrow: stages to drain, in their order */
    size_t holding_count;
    size_t drained; /* of those */
};

/* The stages refer to each other: it stays where it is. `scratch`: as fold_init. */
void pipeline_init(struct pipeline *pipeline, const struct plan *plan, struct arena *arena,
                   struct arena *scratch);

/* `sink` gets the answer and outlives the pipeline's last step. */
bool pipeline_begin(struct pipeline *pipeline, const struct layout *layout, struct sink *sink,
                    struct error *err) MUST_CHECK;

static inline bool pipeline_row(struct pipeline *pipeline, const struct row *row, struct error *err)
{
    return pipeline->head->row(pipeline->head, row, err);
}

/* The next row would be passed over, whatever it holds, and now is. */
static inline bool pipeline_skip(struct pipeline *pipeline)
{
    return pipeline->head == &pipeline->cut.stage.sink && cut_skip(&pipeline->cut);
}

static inline bool pipeline_is_full(const struct pipeline *pipeline)
{
    return cut_is_full(&pipeline->cut);
}

/* Before a message that rows came from is released: nothing of theirs is needed any more. */
static inline void pipeline_settle(struct pipeline *pipeline)
{
    if (pipeline->intake.count > 0) {
        intake_settle(&pipeline->intake);
    }
}

/* How far rows have come. */
struct merge_counts pipeline_count(const struct pipeline *pipeline, const struct plan *plan);

/* After the last row: one step of giving out what stages hold back. */
enum stage_state pipeline_drain(struct pipeline *pipeline, struct error *err);
