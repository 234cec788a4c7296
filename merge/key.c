// SPDX-License-Identifier: Apache-2.0
/* Keys of cells; the arrays are the only ones that have to be written out. */
#include "merge/key.h"

#include "frame/wire.h"

#define IMAGE 8 /* bytes of a number's key */

static uint64_t head_of(struct slice bytes)
{
    uint8_t head[8] = {0};
    if (bytes.len >= sizeof head) {
        return __builtin_bswap64(wire_load64(bytes.ptr));
    }
    for (size_t i = 0; i < bytes.len; i++) {
        head[i] = bytes.ptr[i];
    }
    return __builtin_bswap64(wire_load64(head));
}

struct key key_of_bytes(struct slice bytes)
{
    return (struct key){
        .head = head_of(bytes), .ptr = bytes.ptr, .len = bytes.len, .present = true};
}

static struct key key_of_float(double value)
{
    double plus_zero = value == 0 ? 0 : value;
    int64_t bits;
    memcpy(&bits, &plus_zero, sizeof bits);
    uint64_t image = bits < 0 ? ~(uint64_t)bits : (uint64_t)bits ^ (uint64_t)1 << 63;
    return (struct key){.head = image, .len = IMAGE, .present = true};
}

/* The elements are put one after the other, a newline between them. */
static struct key key_of_strings(struct slice array, struct arena *arena)
{
    uint8_t *to = arena_alloc(arena, array.len, 1); /* each element is longer on the wire */
    size_t len = 0;
    struct wire wire = wire_of(array);
    struct wire_field field;
    for (bool first = true; wire_next(&wire, &field) == WIRE_FIELD;) {
        if (field.number != 1 || field.type != WIRE_BYTES) {
            continue;
        }
        if (!first) {
            to[len++] = '\n';
        }
        if (field.bytes.len > 0) {
            memcpy(to + len, field.bytes.ptr, field.bytes.len);
        }
        len += field.bytes.len;
        first = false;
    }
    return key_of_bytes(slice_of(to, len));
}

/* The image of element `place`; without `to` it is only counted. */
static void put_image(uint8_t *to, size_t place, uint64_t value)
{
    uint64_t image = __builtin_bswap64(value ^ (uint64_t)1 << 63);
    if (to != NULL) {
        memcpy(to + IMAGE * place, &image, sizeof image);
    }
}

/* The images of all elements, packed or not; how many there are. */
static size_t put_ints(struct slice array, uint8_t *to)
{
    struct wire wire = wire_of(array);
    struct wire_field field;
    size_t count = 0;
    while (wire_next(&wire, &field) == WIRE_FIELD) {
        if (field.number == 1 && field.type == WIRE_VARINT) {
            put_image(to, count++, field.value);
        }
        bool packed = field.number == 1 && field.type == WIRE_BYTES;
        struct wire elements = wire_of(packed ? field.bytes : (struct slice){0});
        while (wire_uvarint(&elements, &field.value)) {
            put_image(to, count++, field.value);
        }
    }
    return count;
}

static struct key key_of_ints(struct slice array, struct arena *arena)
{
    size_t len = IMAGE * put_ints(array, NULL);
    uint8_t *to = arena_alloc(arena, len, 1);
    put_ints(array, to);
    return key_of_bytes(slice_of(to, len));
}

static struct key key_of_time(struct slice timestamp)
{
    uint64_t seconds = 0;
    uint64_t nanos = 0;
    struct wire wire = wire_of(timestamp);
    struct wire_field field;
    while (wire_next(&wire, &field) == WIRE_FIELD) {
        if (field.number == 1) {
            seconds = field.value;
        } else if (field.number == 2) {
            nanos = (uint64_t)(int32_t)field.value;
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
    return (a > b) - (a < b);
}

int key_compare_rest(const struct key *a, const struct key *b)
{
    if (a->present != b->present) {
        return a->present ? 1 : -1;
    }
    size_t shared = a->len < b->len ? a->len : b->len;
    if (shared > sizeof a->head) {
        int order =
            memcmp(a->ptr + sizeof a->head, b->ptr + sizeof a->head, shared - sizeof a->head);
        if (order != 0) {
            return order < 0 ? -1 : 1;
        }
    }
    return compare_size(a->len, b->len);
}
