// SPDX-License-Identifier: Apache-2.0
#include "proto/response_layout.h"

#include "proto/pbw.h"

enum {
    KEY_TAG = 0x12,   /* TagFamily.tags */
    KEY_FIELD = 0x1a, /* DataPoint.fields */
    KEY_VALUE = 0x12, /* Tag.value, Field.value */
};

/* "0a len name"; nothing for an empty name. */
static size_t name_size(struct slice name)
{
    return name.len == 0 ? 0 : pbw_bytes_size(1, name.len);
}

static uint8_t *write_name(uint8_t *at, struct slice name)
{
    return name.len == 0 ? at : pbw_bytes(at, 1, name);
}

static struct slice family_prefix(struct slice name, struct arena *arena)
{
    uint8_t *start = arena_zalloc(arena, name_size(name) + PBW_SPARE, 1);
    return slice_of(start, (size_t)(write_name(start, name) - start));
}

static struct response_column new_column(const struct layout *layout, size_t cell, uint8_t key,
                                         struct arena *arena)
{
    struct slice name = layout->columns[cell].name;
    size_t inner = name_size(name) + 2;
    uint8_t *start = arena_zalloc(arena, 2 + inner + PBW_SPARE, 1);
    start[0] = key;
    *write_name(start + 2, name) = KEY_VALUE;
    return (struct response_column){
        .template = slice_of(start, 2 + inner),
        .short_limit = inner < 0x80 ? 0x80 - inner : 0,
        .cell = cell,
    };
}

/* The shown columns from `first` on that are of its family; returns how many. */
static size_t add_family(const struct layout *layout, size_t first, struct response_column *at,
                         struct arena *arena)
{
    size_t count = 0;
    for (size_t i = first; i < layout->tag_count; i++) {
        const struct layout_column *column = &layout->columns[i];
        if (!column->hidden && slice_equal(column->family, layout->columns[first].family)) {
            at[count++] = new_column(layout, i, KEY_TAG, arena);
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
        family->prefix = family_prefix(layout->columns[i].family, arena);
        size_t name_len = layout->columns[i].family.len;
        family->name = slice_of(family->prefix.ptr + family->prefix.len - name_len, name_len);
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
        if (!layout->columns[cell].hidden) {
            shape->fields[shape->field_count++] = new_column(layout, cell, KEY_FIELD, arena);
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
