// SPDX-License-Identifier: Apache-2.0
/* Built from the last stage to the first. */
#include "merge/pipeline.h"

void pipeline_init(struct pipeline *pipeline, const struct plan *plan, struct arena *arena,
                   struct arena *scratch)
{
    *pipeline = (struct pipeline){.head = &pipeline->cut.stage.sink};
    bool folds = plan->mode != PLAN_ROWS;
    if (folds) {
        pipeline->holding[pipeline->holding_count++] = &pipeline->fold.stage;
    }
    cut_init(&pipeline->cut, plan->offset, plan->limit, NULL);
    if (plan->top.number > 0) {
        top_init(&pipeline->top, plan, arena, pipeline->head);
        pipeline->head = &pipeline->top.stage.sink;
        pipeline->holding[pipeline->holding_count++] = &pipeline->top.stage;
    }
    if (folds) {
        fold_init(&pipeline->fold, plan, arena, scratch, pipeline->head);
        intake_init(&pipeline->intake, &pipeline->fold);
        pipeline->head = &pipeline->intake.sink;
    } else if (plan->key_count > 0) {
        first_init(&pipeline->first, plan, arena, pipeline->head);
        pipeline->head = &pipeline->first.stage.sink;
    }
}

bool pipeline_begin(struct pipeline *pipeline, const struct layout *layout, struct sink *sink,
                    struct error *err)
{
    pipeline->cut.stage.next = sink;
    return pipeline->head->begin(pipeline->head, layout, err);
}

enum stage_state pipeline_drain(struct pipeline *pipeline, struct error *err)
{
    if (pipeline->drained == pipeline->holding_count) {
        return STAGE_DONE;
    }
    pipeline_settle(pipeline);
    struct stage *stage = pipeline->holding[pipeline->drained];
    enum stage_state state = stage->drain(stage, err);
    if (state != STAGE_DONE) {
        return state;
    }
    pipeline->drained++;
    return STAGE_MORE;
}

struct merge_counts pipeline_count(const struct pipeline *pipeline, const struct plan *plan)
{
    struct merge_counts counts = {
        .ranked = pipeline->top.places,
        .cut = plan->offset - pipeline->cut.offset + (plan->limit - pipeline->cut.limit),
    };
    if (plan->mode != PLAN_ROWS) {
        counts.merged = pipeline->fold.table.count;
    } else if (plan->key_count > 0) {
        counts.merged = pipeline->first.rows;
    } else {
        counts.merged = plan->top.number > 0 ? counts.ranked : counts.cut;
    }
    return counts;
}
