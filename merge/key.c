// SPDX-License-Identifier: Apache-2.0
/* Keys of cells; the arrays are the only ones that have to be written out. */
#include "merge/key.h"

#include "frame/wire.h"

static uint64_t big_endian(const uint8_t *ptr, size_t len)
{
    uint8_t head[8] = {0};
    memcpy(head, ptr, len < 8 ? len : 8);
    return __builtin_bswap64(wire_load64(head));
}

struct key key_of_bytes(struct slice bytes)
{
    struct key key = {.present = true, .len = bytes.len, .ptr = bytes.ptr};
    if (bytes.len > 0) {
        key.head = big_endian(bytes.ptr, bytes.len);
    }
    return key;
}

static struct key key_of_float(double value)
{
    double plus_zero = value == 0 ? 0 : value;
    int64_t bits;
    memcpy(&bits, &plus_zero, sizeof bits);
    uint64_t image = bits < 0 ? ~(uint64_t)bits : (uint64_t)bits ^ (uint64_t)1 << 63;
    return (struct key){.present = true, .head = image, .len = 8};
}

static void put_image(uint8_t *to, int64_t value)
{
    uint64_t image = __builtin_bswap64((uint64_t)value ^ (uint64_t)1 << 63);
    memcpy(to, &image, sizeof image);
}

static struct key key_of_strings(struct slice array, struct arena *arena)
{
    uint8_t *to = arena_alloc(arena, array.len, 1); /* each element is longer on the wire */
    size_t len = 0;
    size_t elements = 0;
    struct wire wire = wire_of(array);
    struct wire_field field;
    while (wire_next(&wire, &field) == WIRE_FIELD) {
        if (field.number != 1 || field.type != WIRE_BYTES) {
            continue;
        }
        if (elements++ > 0) {
            to[len++] = '\n';
        }
        if (field.bytes.len > 0) {
            memcpy(to + len, field.bytes.ptr, field.bytes.len);
        }
        len += field.bytes.len;
    }
    return key_of_bytes(slice_of(to, len));
}

static size_t put_packed(uint8_t *to, struct slice packed)
{
    struct wire wire = wire_of(packed);
    uint64_t value;
    size_t len = 0;
    for (; wire_uvarint(&wire, &value); len += 8) {
        put_image(to + len, (int64_t)value);
    }
    return len;
}

static struct key key_of_ints(struct slice array, struct arena *arena)
{
    uint8_t *to = arena_alloc(arena, 8 * array.len, 1); /* an element takes a byte at least */
    size_t len = 0;
    struct wire wire = wire_of(array);
    struct wire_field field;
    while (wire_next(&wire, &field) == WIRE_FIELD) {
        if (field.number == 1 && field.type == WIRE_BYTES) {
            len += put_packed(to + len, field.bytes);
        } else if (field.number == 1 && field.type == WIRE_VARINT) {
            put_image(to + len, (int64_t)field.value);
            len += 8;
        }
    }
    return key_of_bytes(slice_of(to, len));
}

static struct key key_of_time(struct slice timestamp)
{
    uint64_t seconds = 0;
    uint64_t nanos = 0;
    struct wire wire = wire_of(timestamp);
    struct wire_field field;
    while (wire_next(&wire, &field) == WIRE_FIELD) {
        if (field.type == WIRE_VARINT && field.number == 1) {
            seconds = field.value;
        } else if (field.type == WIRE_VARINT && field.number == 2) {
            nanos = field.value;
        }
    }
    return key_of_int((int64_t)(seconds * 1000000000u + nanos));
}

struct key key_of_cell(const struct cell *cell, struct arena *arena)
{
    switch (cell->kind) {
    case CELL_NULL:
        return (struct key){.present = false};
    case CELL_INT:
        return key_of_int(cell->number.i);
    case CELL_FLOAT:
        return key_of_float(cell->number.f);
    case CELL_STRING:
    case CELL_BINARY:
        return key_of_bytes(cell->bytes);
    case CELL_STRINGS:
        return key_of_strings(cell->inner, arena);
    case CELL_INTS:
        return key_of_ints(cell->inner, arena);
    case CELL_TIME:
        return key_of_time(cell->inner);
    }
    return (struct key){.present = false};
}

static int compare_size(size_t a, size_t b)
{
    return a < b ? -1 : a > b;
}

int key_compare_rest(const struct key *a, const struct key *b)
{
    size_t shared = a->len < b->len ? a->len : b->len;
    if (shared > 8) {
        int order = memcmp(a->ptr + 8, b->ptr + 8, shared - 8);
        if (order != 0) {
            return order;
        }
    }
    return compare_size(a->len, b->len);
}
