// SPDX-License-Identifier: Apache-2.0
/* Binding a frame's columns to the layout, and walking its rows in merge order. */
#include "merge/source.h"

static const struct column *metadata(const struct view *view, enum column_role role)
{
    const struct column *column = view_role(view, role);
    return column != NULL && column->null_count == 0 ? column : NULL;
}

static const struct column *find(const struct view *view, enum column_role role,
                                 struct slice family, struct slice name)
{
    for (size_t i = 0; i < view->column_count; i++) {
        const struct column *column = &view->columns[i];
        if (column->role == role && slice_equal(column->name, name) &&
            slice_equal(column->family, family)) {
            return column;
        }
    }
    return NULL;
}

/* NULL: every key is null. */
static const struct column *order_column(const struct source *source, const struct plan *plan)
{
    return plan->order == PLAN_BY_TIME
               ? source->time
               : find(&source->view, COLUMN_TAG, plan->order_tag.family, plan->order_tag.name);
}

void source_stand(struct source *source)
{
    if (!source_is_drained(source)) {
        order_key(&source->order, order_row(&source->order, source->next), &source->key);
    }
}

bool source_begin(struct source *source, const struct plan *plan, struct error *err)
{
    source->time = metadata(&source->view, COLUMN_TIMESTAMP);
    source->version = metadata(&source->view, COLUMN_VERSION);
    source->series = metadata(&source->view, COLUMN_SERIES);
    if (source->time == NULL || source->version == NULL || source->series == NULL) {
        return error_set(err, ERROR_DATA_LOSS,
                         "row merge requires series-id, timestamp, and version columns without "
                         "nulls");
    }
    const struct column *order = order_column(source, plan);
    if (order == NULL && plan->layout == NULL) {
        return error_set(err, ERROR_DATA_LOSS,
                         "row merge: OrderBy tag %.*s.%.*s not found in merged-batch schema",
                         SLICE_ARG(plan->order_tag.family), SLICE_ARG(plan->order_tag.name));
    }
    source->order = (struct order){
        .column = order, .count = source->view.row_count, .descending = plan->descending};
    return true;
}

bool source_open(struct source *source, const struct plan *plan, struct arena *arena,
                 struct error *err)
{
    if (!source_begin(source, plan, err) || !order_make(&source->order, arena, err)) {
        return false;
    }
    source_stand(source);
    return true;
}

void source_advance(struct source *source, size_t count)
{
    source->next += count;
    source_stand(source);
}

void source_pin(struct source *source, struct msg *msg, struct charge *charge)
{
    source->msg = msg_retain(msg);
    charge_add(charge, CHARGE_VIEW, 0);
}

void source_unpin(struct source *source, struct charge *charge)
{
    if (source->msg != NULL) {
        charge_drop(charge, CHARGE_VIEW, 0);
        msg_release(&source->msg);
    }
}

static size_t count_role(const struct view *view, enum column_role role)
{
    size_t count = 0;
    for (size_t i = 0; i < view->column_count; i++) {
        count += view->columns[i].role == role;
    }
    return count;
}

static bool is_hidden(const struct plan *plan, const struct column *column)
{
    if (column->role == COLUMN_FIELD) {
        return plan->top.hidden && slice_equal(column->name, plan->top.field);
    }
    return plan->order_hidden && slice_equal(column->family, plan->order_tag.family) &&
           slice_equal(column->name, plan->order_tag.name);
}

/* Names are copied: the layout outlives this frame's message. */
static void put_columns(struct layout_column *to, const struct view *view, enum column_role role,
                        const struct plan *plan, struct arena *arena)
{
    for (size_t i = 0; i < view->column_count; i++) {
        const struct column *column = &view->columns[i];
        if (column->role == role) {
            *to++ = (struct layout_column){.family = arena_copy(arena, column->family),
                                           .name = arena_copy(arena, column->name),
                                           .hidden = is_hidden(plan, column)};
        }
    }
}

struct layout *source_layout(const struct source *source, const struct plan *plan,
                             struct arena *arena)
{
    struct layout *layout = arena_new(arena, struct layout);
    layout->tag_count = count_role(&source->view, COLUMN_TAG);
    layout->field_count = count_role(&source->view, COLUMN_FIELD);
    layout->columns =
        arena_array(arena, struct layout_column, layout->tag_count + layout->field_count);
    put_columns(layout->columns, &source->view, COLUMN_TAG, plan, arena);
    put_columns(layout->columns + layout->tag_count, &source->view, COLUMN_FIELD, plan, arena);
    return layout;
}

/* Reads what stays the same for all rows: constants, and nulls for columns that are not there. */
static bool bind(struct source *source, const struct layout *layout, struct arena *arena,
                 struct error *err)
{
    size_t count = layout->tag_count + layout->field_count;
    source->cells = arena_array(arena, struct cell, count);
    source->varying = arena_array(arena, struct source_varying, count);
    source->varying_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct column *column = source->columns[i];
        if (column == NULL) {
            continue; /* the zeroed cell is CELL_NULL */
        }
        if (!column->constant) {
            source->varying[source->varying_count++] =
                (struct source_varying){.column = column, .cell = &source->cells[i]};
        } else if (!cell_read(column, 0, &source->cells[i], err)) {
            return false;
        }
    }
    return true;
}

static bool same_column(const struct layout_column *wanted, const struct column *column)
{
    return slice_equal(wanted->name, column->name) && slice_equal(wanted->family, column->family);
}

static bool bind_role(struct source *source, const struct layout *layout, enum column_role role,
                      struct error *err)
{
    size_t to = role == COLUMN_TAG ? 0 : layout->tag_count;
    for (size_t i = 0; i < source->view.column_count; i++) {
        const struct column *column = &source->view.columns[i];
        if (column->role != role) {
            continue;
        }
        const struct layout_column *wanted = &layout->columns[to];
        if (!same_column(wanted, column)) {
            return error_set(err, ERROR_DATA_LOSS,
                             "column %zu layout mismatch: baseline=\"%.*s\".\"%.*s\" role=%s vs "
                             "frame=\"%.*s\".\"%.*s\"",
                             i, SLICE_ARG(wanted->family), SLICE_ARG(wanted->name),
                             column_role_name((uint8_t)role), SLICE_ARG(column->family),
                             SLICE_ARG(column->name));
        }
        source->columns[to++] = column;
    }
    return true;
}

bool source_bind_same(struct source *source, const struct layout *layout, struct arena *arena,
                      struct error *err)
{
    size_t tags = count_role(&source->view, COLUMN_TAG);
    size_t fields = count_role(&source->view, COLUMN_FIELD);
    if (tags != layout->tag_count || fields != layout->field_count) {
        return error_set(err, ERROR_DATA_LOSS,
                         "schema of %zu tags and %zu fields != baseline of %zu tags and %zu fields",
                         tags, fields, layout->tag_count, layout->field_count);
    }
    source->columns = arena_array(arena, const struct column *, tags + fields);
    return bind_role(source, layout, COLUMN_TAG, err) &&
           bind_role(source, layout, COLUMN_FIELD, err) && bind(source, layout, arena, err);
}

bool source_bind_named(struct source *source, const struct layout *layout, struct arena *arena,
                       struct error *err)
{
    size_t count = layout->tag_count + layout->field_count;
    source->columns = arena_array(arena, const struct column *, count);
    for (size_t i = 0; i < count; i++) {
        enum column_role role = i < layout->tag_count ? COLUMN_TAG : COLUMN_FIELD;
        source->columns[i] =
            find(&source->view, role, layout->columns[i].family, layout->columns[i].name);
    }
    return bind(source, layout, arena, err);
}

bool source_read(struct source *source, size_t row, struct error *err)
{
    for (size_t i = 0; i < source->varying_count; i++) {
        if (!cell_read(source->varying[i].column, row, source->varying[i].cell, err)) {
            return false;
        }
    }
    return true;
}
