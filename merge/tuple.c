// SPDX-License-Identifier: Apache-2.0
/* Spelling cells, and reading them back when a group is written. */
#include "merge/tuple.h"

#include <assert.h>
#include <math.h>

#define FIRST_CAPACITY 256

void tuple_init(struct tuple *tuple, struct arena *arena)
{
    *tuple = (struct tuple){
        .arena = arena,
        .bytes = arena_alloc(arena, FIRST_CAPACITY, 1),
        .capacity = FIRST_CAPACITY,
    };
}

static uint8_t *grow(struct tuple *tuple, size_t size)
{
    size_t capacity = 2 * (tuple->len + size);
    uint8_t *bytes = arena_alloc(tuple->arena, capacity, 1);
    memcpy(bytes, tuple->bytes, tuple->len);
    tuple->bytes = bytes;
    tuple->capacity = capacity;
    return bytes + tuple->len;
}

/* Where the next `size` bytes go; they count at once. */
static inline uint8_t *append(struct tuple *tuple, size_t size)
{
    uint8_t *to = tuple->bytes + tuple->len;
    if (size > tuple->capacity - tuple->len) {
        to = grow(tuple, size);
    }
    tuple->len += size;
    return to;
}

static void put_number(struct tuple *tuple, enum cell_kind kind, const void *value)
{
    uint8_t *to = append(tuple, 9);
    *to = (uint8_t)kind;
    memcpy(to + 1, value, 8);
}

static void put_bytes(struct tuple *tuple, enum cell_kind kind, struct slice bytes)
{
    assert(bytes.len <= UINT32_MAX);
    uint32_t len = (uint32_t)bytes.len;
    uint8_t *to = append(tuple, 5 + bytes.len);
    *to = (uint8_t)kind;
    memcpy(to + 1, &len, sizeof len);
    if (len > 0) {
        memcpy(to + 5, bytes.ptr, len);
    }
}

static double plain_float(double value)
{
    return isnan(value) ? (double)NAN : value + 0.0; /* -0 + 0 is 0 */
}

void tuple_put(struct tuple *tuple, const struct cell *cell)
{
    double plain;
    switch (cell->kind) {
    case CELL_NULL:
        *append(tuple, 1) = CELL_NULL;
        return;
    case CELL_INT:
        put_number(tuple, CELL_INT, &cell->number.i);
        return;
    case CELL_FLOAT:
        plain = plain_float(cell->number.f);
        put_number(tuple, CELL_FLOAT, &plain);
        return;
    case CELL_STRING:
    case CELL_BINARY:
    case CELL_STRINGS:
    case CELL_INTS:
    case CELL_TIME:
        put_bytes(tuple, cell->kind, cell->bytes);
        return;
    }
}

static struct slice take(struct slice *spelled, size_t size)
{
    assert(size <= spelled->len);
    struct slice taken = slice_of(spelled->ptr, size);
    *spelled = slice_of(spelled->ptr + size, spelled->len - size);
    return taken;
}

/* Arrays and timestamps are spelled as the TagValue message that they came as, which had been
 * checked then. */
static struct cell cell_of(enum cell_kind kind, struct slice bytes)
{
    static const struct column tag_values = {.role = COLUMN_TAG, .type = COLUMN_TAG_VALUE};
    struct cell cell = {.kind = kind, .bytes = bytes};
    if (kind >= CELL_STRINGS) {
        bool whole = cell_read_message(&tag_values, bytes, &cell);
        assert(whole && cell.kind == kind);
    }
    return cell;
}

struct cell tuple_take(struct slice *spelled)
{
    enum cell_kind kind = *take(spelled, 1).ptr;
    struct cell cell = {.kind = kind};
    if (kind == CELL_NULL) {
        return cell;
    }
    if (kind == CELL_INT || kind == CELL_FLOAT) {
        memcpy(&cell.number, take(spelled, sizeof cell.number).ptr, sizeof cell.number);
        return cell;
    }
    uint32_t len;
    memcpy(&len, take(spelled, sizeof len).ptr, sizeof len);
    return cell_of(kind, take(spelled, len));
}
