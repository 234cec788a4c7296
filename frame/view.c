// SPDX-License-Identifier: Apache-2.0
/* Finding a view's columns, and building their list. */
#include "frame/view.h"

#include "frame/decode.h"

#include <stdalign.h>

#define FIRST_COLUMNS 16

const struct column *view_role(const struct view *view, enum column_role role)
{
    for (size_t i = 0; i < view->column_count; i++) {
        if (view->columns[i].role == role) {
            return &view->columns[i];
        }
    }
    return NULL;
}

/* The list is full at 0, 16, 32, 64 … columns: it doubles as columns are really found, because a
 * frame's own count may lie. */
static bool is_full(size_t count)
{
    return count == 0 || (count >= FIRST_COLUMNS && (count & (count - 1)) == 0);
}

struct column *view_add_column(struct view *view, const struct room *room)
{
    size_t count = view->column_count;
    if (is_full(count)) {
        size_t capacity = count == 0 ? FIRST_COLUMNS : 2 * count;
        struct column *columns =
            room->alloc(room->owner, capacity * sizeof *columns, alignof(struct column));
        if (count > 0) {
            memcpy(columns, view->columns, count * sizeof *columns);
        }
        view->columns = columns;
    }
    view->column_count = count + 1;
    view->columns[count] = (struct column){.mask = SIZE_MAX};
    return &view->columns[count];
}
