// SPDX-License-Identifier: Apache-2.0
/* Spelling cells, and reading them back when a group is written. */
#include "merge/tuple.h"

#include <assert.h>
#include <math.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FIRST_CAPACITY 256

/* -0 + 0 is 0, and there is one NaN. */
static uint64_t float_bits(double value)
{
    double plain = isnan(value) ? (double)NAN : value + 0.0;
    uint64_t bits;
    memcpy(&bits, &plain, sizeof bits);
    return bits;
}

static uint64_t number_bits(const struct cell *cell)
{
    return cell->kind == CELL_INT ? (uint64_t)cell->number.i : float_bits(cell->number.f);
}

static bool is_number(enum cell_kind kind)
{
    return kind == CELL_INT || kind == CELL_FLOAT;
}

static size_t size_of(const struct cell *cell)
{
    if (cell->kind == CELL_NULL) {
        return 1;
    }
    return is_number(cell->kind) ? 9 : 5 + cell->bytes.len;
}

/* Where the next cell goes. */
static uint8_t *write(uint8_t *to, const struct cell *cell)
{
    *to++ = (uint8_t)cell->kind;
    if (cell->kind == CELL_NULL) {
        return to;
    }
    if (is_number(cell->kind)) {
        uint64_t bits = number_bits(cell);
        memcpy(to, &bits, sizeof bits);
        return to + sizeof bits;
    }
    assert(cell->bytes.len <= UINT32_MAX);
    uint32_t len = (uint32_t)cell->bytes.len;
    memcpy(to, &len, sizeof len);
    if (len > 0) {
        memcpy(to + sizeof len, cell->bytes.ptr, len);
    }
    return to + sizeof len + len;
}

struct slice tuple_spell(const struct cell *cells, size_t count, struct arena *arena)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += size_of(&cells[i]);
    }
    uint8_t *bytes = arena_alloc(arena, size, 1);
    uint8_t *at = bytes;
    for (size_t i = 0; i < count; i++) {
        at = write(at, &cells[i]);
    }
    return slice_of(bytes, size);
}

/* The rest of a cell of the same kind; NULL: it differs. */
static const uint8_t *match_rest(const uint8_t *at, const struct cell *cell)
{
    if (cell->kind == CELL_NULL) {
        return at;
    }
    if (is_number(cell->kind)) {
        uint64_t bits = number_bits(cell);
        return memcmp(at, &bits, sizeof bits) == 0 ? at + sizeof bits : NULL;
    }
    uint32_t len;
    memcpy(&len, at, sizeof len);
    at += sizeof len;
    return slice_equal(slice_of(at, len), cell->bytes) ? at + len : NULL;
}

bool tuple_is(struct slice spelled, const struct cell *cells)
{
    const uint8_t *end = spelled.ptr + spelled.len;
    for (const uint8_t *at = spelled.ptr; at != end; cells++) {
        at = *at == cells->kind ? match_rest(at + 1, cells) : NULL;
        if (at == NULL) {
            return false;
        }
    }
    return true;
}

uint64_t tuple_hash(const struct cell *cell, uint64_t seed)
{
    if (cell->kind == CELL_NULL) {
        return seed;
    }
    if (is_number(cell->kind)) {
        uint64_t bits = number_bits(cell);
        return XXH3_64bits_withSeed(&bits, sizeof bits, seed + cell->kind);
    }
    return XXH3_64bits_withSeed(cell->bytes.ptr, cell->bytes.len, seed + cell->kind);
}

void tuple_init(struct tuple *tuple, struct arena *arena)
{
    *tuple = (struct tuple){
        .arena = arena,
        .bytes = arena_alloc(arena, FIRST_CAPACITY, 1),
        .capacity = FIRST_CAPACITY,
    };
}

static void grow(struct tuple *tuple, size_t size)
{
    size_t capacity = 2 * (tuple->len + size);
    uint8_t *bytes = arena_alloc(tuple->arena, capacity, 1);
    memcpy(bytes, tuple->bytes, tuple->len);
    tuple->bytes = bytes;
    tuple->capacity = capacity;
}

void tuple_put(struct tuple *tuple, const struct cell *cell)
{
    size_t size = size_of(cell);
    if (size > tuple->capacity - tuple->len) {
        grow(tuple, size);
    }
    write(tuple->bytes + tuple->len, cell);
    tuple->len += size;
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
    if (is_number(kind)) {
        memcpy(&cell.number, take(spelled, sizeof cell.number).ptr, sizeof cell.number);
        return cell;
    }
    uint32_t len;
    memcpy(&len, take(spelled, sizeof len).ptr, sizeof len);
    return cell_of(kind, take(spelled, len));
}
