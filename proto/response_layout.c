// SPDX-License-Identifier: Apache-2.0
#include "proto/response_layout.h"

#include "proto/pbw.h"

/* "0a len name", nothing for an empty name; and the key of what follows it, if any. */
static struct slice prefix(struct slice name, bool value_follows, struct arena *arena)
{
    size_t size = (name.len == 0 ? 0 : pbw_bytes_size(1, name.len)) + (value_follows ? 1 : 0);
    uint8_t *start = arena_zalloc(arena, size + PBW_SPARE, 1);
    uint8_t *at = start;
    if (name.len > 0) {
        at = pbw_bytes(at, 1, name);
    }
    if (value_follows) {
        at = pbw_key(at, 2, PBW_BYTES);
    }
    return slice_of(start, (size_t)(at - start));
}

/* The columns from `at` on that `chosen` says yes to; returns how many. */
static size_t add_family(const struct layout *layout, size_t first, struct response_column *at,
                         struct arena *arena)
{
    size_t count = 0;
    for (size_t i = first; i < layout->tag_count; i++) {
        const struct layout_column *column = &layout->columns[i];
        if (!column->hidden && slice_equal(column->family, layout->columns[first].family)) {
            at[count++] =
                (struct response_column){.prefix = prefix(column->name, true, arena), .cell = i};
        }
    }
    return count;
}

/* The column begins its family: no shown column before it is of the same one. */
static bool begins_family(const struct layout *layout, size_t place)
{
    const struct layout_column *column = &layout->columns[place];
    for (size_t i = 0; i < place; i++) {
        if (!layout->columns[i].hidden && slice_equal(layout->columns[i].family, column->family)) {
            return false;
        }
    }
    return !column->hidden;
}

static void add_families(struct response_layout *shape, const struct layout *layout,
                         struct arena *arena)
{
    struct response_column *columns = arena_array(arena, struct response_column, layout->tag_count);
    shape->families = arena_array(arena, struct response_family, layout->tag_count);
    for (size_t i = 0; i < layout->tag_count; i++) {
        if (!begins_family(layout, i)) {
            continue;
        }
        struct response_family *family = &shape->families[shape->family_count++];
        family->prefix = prefix(layout->columns[i].family, false, arena);
        family->columns = columns;
        family->column_count = add_family(layout, i, columns, arena);
        columns += family->column_count;
    }
}

static void add_fields(struct response_layout *shape, const struct layout *layout,
                       struct arena *arena)
{
    shape->fields = arena_array(arena, struct response_column, layout->field_count);
    for (size_t i = 0; i < layout->field_count; i++) {
        size_t cell = layout->tag_count + i;
        const struct layout_column *column = &layout->columns[cell];
        if (!column->hidden) {
            shape->fields[shape->field_count++] =
                (struct response_column){.prefix = prefix(column->name, true, arena), .cell = cell};
        }
    }
}

struct response_layout *response_layout_new(const struct layout *layout, struct arena *arena)
{
    struct response_layout *shape = arena_new(arena, struct response_layout);
    add_families(shape, layout, arena);
    add_fields(shape, layout, arena);
    return shape;
}
