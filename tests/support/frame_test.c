// SPDX-License-Identifier: Apache-2.0
/* Plain and slow: the helpers must be easier to trust than what they test. */
#include "tests/support/frame_test.h"

#include <assert.h>
#include <stdlib.h>

#define SPARE 16

static void *must(void *ptr)
{
    if (ptr == NULL) {
        abort();
    }
    return ptr;
}

static void *room_alloc(void *owner, size_t size, size_t align)
{
    assert(align > 0 && align <= 16 && (align & (align - 1)) == 0);
    struct test_room *room = owner;
    void *block = must(malloc(size > 0 ? size : 1));
    room->blocks = must(realloc(room->blocks, (room->count + 1) * sizeof *room->blocks));
    room->blocks[room->count++] = block;
    room->bytes += size;
    return block;
}

void test_room_init(struct test_room *room)
{
    *room = (struct test_room){.room = {.alloc = room_alloc, .owner = room}};
}

void test_room_fini(struct test_room *room)
{
    for (size_t i = 0; i < room->count; i++) {
        free(room->blocks[i]);
    }
    free(room->blocks);
    *room = (struct test_room){0};
}

struct placed place_bytes(struct slice bytes, size_t shift)
{
    uint8_t *block = must(malloc(shift + bytes.len + SPARE));
    memset(block, 0xA5, shift + bytes.len + SPARE);
    if (bytes.len > 0) {
        memcpy(block + shift, bytes.ptr, bytes.len);
    }
    return (struct placed){.block = block, .bytes = slice_of(block + shift, bytes.len)};
}

static unsigned hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9') {
        return (unsigned)(digit - '0');
    }
    assert(digit >= 'a' && digit <= 'f');
    return (unsigned)(digit - 'a' + 10);
}

size_t hex_bytes(const char *hex, uint8_t *into, size_t max)
{
    size_t len = 0;
    while (*hex != '\0') {
        if (*hex == ' ') {
            hex++;
            continue;
        }
        assert(len < max);
        into[len++] = (uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
        hex += 2;
    }
    return len;
}

static uint64_t sum_bytes(struct slice bytes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        sum += bytes.ptr[i];
    }
    return sum;
}

static uint64_t read_cell(const struct column *column, size_t row)
{
    if (column_is_null(column, row)) {
        return 1;
    }
    return column_is_number(column) ? column_bits(column, row)
                                    : sum_bytes(column_bytes(column, row));
}

uint64_t view_read_all(const struct view *view)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < view->column_count; i++) {
        const struct column *column = &view->columns[i];
        sum += sum_bytes(column->name) + sum_bytes(column->family);
        if (column->constant) {
            sum += read_cell(column, 0) + read_cell(column, view->row_count - 1);
            continue;
        }
        for (size_t row = 0; row < view->row_count; row++) {
            sum += read_cell(column, row);
        }
    }
    return sum;
}

static const char *cell_difference(const struct column *a, const struct column *b, size_t row)
{
    if (column_is_null(a, row) != column_is_null(b, row)) {
        return "a null";
    }
    if (column_is_null(a, row)) {
        return NULL;
    }
    if (column_is_number(a)) {
        return column_bits(a, row) == column_bits(b, row) ? NULL : "a number";
    }
    return slice_equal(column_bytes(a, row), column_bytes(b, row)) ? NULL : "a string";
}

static const char *column_difference(const struct column *a, const struct column *b, size_t rows)
{
    if (a->role != b->role || a->type != b->type) {
        return "role or type";
    }
    if (!slice_equal(a->name, b->name) || !slice_equal(a->family, b->family)) {
        return "name or family";
    }
    for (size_t row = 0; row < rows; row++) {
        const char *difference = cell_difference(a, b, row);
        if (difference != NULL) {
            return difference;
        }
    }
    return NULL;
}

const char *view_difference(const struct view *a, const struct view *b)
{
    if (a->row_count != b->row_count || a->column_count != b->column_count) {
        return "row or column count";
    }
    for (size_t i = 0; i < a->column_count; i++) {
        const char *difference = column_difference(&a->columns[i], &b->columns[i], a->row_count);
        if (difference != NULL) {
            return difference;
        }
    }
    return NULL;
}
