// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/drawn_plan.h"

static const struct slice group_names[] = {{(const uint8_t *)"g0", 2}, {(const uint8_t *)"g1", 2}};

static struct plan_tag tag(const char *name)
{
    return (struct plan_tag){slice_str("f"), slice_str(name)};
}

static void draw_order(struct plan *plan, struct draw *draw)
{
    plan->order = draw_once_in(draw, 2) ? PLAN_BY_TAG : PLAN_BY_TIME;
    plan->order_tag = plan->order == PLAN_BY_TAG ? tag("t") : (struct plan_tag){0};
    plan->order_hidden = plan->order == PLAN_BY_TAG && draw_once_in(draw, 4);
    plan->descending = draw_once_in(draw, 2);
    plan->index_mode = draw_once_in(draw, 8);
}

static void draw_keys(struct drawn_plan *drawn, struct draw *draw)
{
    struct plan *plan = &drawn->plan;
    drawn->keys[0] = tag("k");
    drawn->keys[1] = tag("t");
    plan->keys = drawn->keys;
    plan->key_count = draw_below(draw, 3);
    if (plan->mode == PLAN_ROWS && !draw_once_in(draw, 4)) {
        plan->key_count = 0;
    }
    plan->order_hidden = plan->order_hidden && plan->key_count < 2;
}

static void draw_agg(struct plan *plan, struct draw *draw)
{
    if (plan->mode != PLAN_ROWS) {
        plan->agg = (struct plan_agg){
            .function = (enum plan_function)draw_below(draw, 5),
            .type = (enum plan_type)draw_below(draw, 2),
            .field = slice_str("v"),
            .mean_floor = draw_once_in(draw, 2),
        };
    }
    if (draw_once_in(draw, 4)) {
        plan->top = (struct plan_top){
            .number = 1 + (int64_t)draw_below(draw, 40),
            .ascending = draw_once_in(draw, 2),
            .hidden = plan->mode == PLAN_ROWS && draw_once_in(draw, 2),
            .field = slice_str("v"),
        };
    }
}

static void fill_layout(struct drawn_plan *drawn)
{
    struct plan *plan = &drawn->plan;
    const struct layout_column columns[] = {
        {slice_str("f"), slice_str("t"), plan->order_hidden},
        {slice_str("f"), slice_str("k"), false},
        {slice_str("f"), slice_str("none"), false},
        {slice_str(""), slice_str("v"), plan->top.hidden},
    };
    memcpy(drawn->columns, columns, sizeof columns);
    drawn->layout = (struct layout){.tag_count = 3, .field_count = 1, .columns = drawn->columns};
    plan->layout = &drawn->layout;
}

void drawn_plan(struct drawn_plan *drawn, struct draw *draw)
{
    struct plan *plan = &drawn->plan;
    *drawn = (struct drawn_plan){.plan = {.groups = group_names, .measure = slice_str("m")}};
    plan->mode = (enum plan_mode)draw_below(draw, 3);
    plan->group_count = 1 + draw_below(draw, 2);
    draw_order(plan, draw);
    draw_keys(drawn, draw);
    draw_agg(plan, draw);
    plan->offset = draw_once_in(draw, 4) ? draw_below(draw, 30) : 0;
    plan->limit = draw_once_in(draw, 2) ? 1 + draw_below(draw, 40) : 10000;
    if (plan->group_count > 1) {
        fill_layout(drawn);
    }
}
