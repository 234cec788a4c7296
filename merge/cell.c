// SPDX-License-Identifier: Apache-2.0
/*
 * TagValue and FieldValue cells. A cell comes from outside: its lengths are walked, one level into
 * the variant, before anything of it is believed or passed on. Of several variants in one cell the
 * last counts, and what is passed on is that one alone.
 *
 *   TagValue    1 null · 2 Str · 3 StrArray · 4 Int · 5 IntArray · 6 binary · 7 Timestamp
 *   FieldValue  1 null · 2 Str · 3 Int · 4 binary · 5 Float
 */
#include "merge/cell.h"

#include "frame/wire.h"

/* How a variant of the oneof is spelled on the wire. */
enum shape {
    SHAPE_UNKNOWN,
    SHAPE_NULL,
    SHAPE_TEXT,
    SHAPE_NUMBER,
    SHAPE_DOUBLE,
    SHAPE_RAW,
    SHAPE_TEXTS,
    SHAPE_NUMBERS,
    SHAPE_TIME
};

static const uint8_t tag_shapes[] = {
    [1] = SHAPE_NULL,    [2] = SHAPE_TEXT, [3] = SHAPE_TEXTS, [4] = SHAPE_NUMBER,
    [5] = SHAPE_NUMBERS, [6] = SHAPE_RAW,  [7] = SHAPE_TIME,
};
static const uint8_t field_shapes[] = {
    [1] = SHAPE_NULL, [2] = SHAPE_TEXT, [3] = SHAPE_NUMBER, [4] = SHAPE_RAW, [5] = SHAPE_DOUBLE,
};

static enum shape shape_of(enum column_type type, uint32_t number)
{
    if (type == COLUMN_TAG_VALUE) {
        return number < sizeof tag_shapes ? tag_shapes[number] : SHAPE_UNKNOWN;
    }
    return number < sizeof field_shapes ? field_shapes[number] : SHAPE_UNKNOWN;
}

/* Field 1 of a wrapper message (Str, Int, Float); absent = its default. An empty string points into
 * the message too, where spare bytes follow. */
static bool read_wrapped(struct slice wrapper, enum wire_type type, struct wire_field *value_out)
{
    struct wire wire = wire_of(wrapper);
    struct wire_field field;
    enum wire_result result;
    *value_out = (struct wire_field){.type = type, .bytes = slice_of(wrapper.ptr, 0)};
    while ((result = wire_next(&wire, &field)) == WIRE_FIELD) {
        if (field.number == 1 && field.type == type) {
            *value_out = field;
        } else if (field.number == 1) {
            return false;
        }
    }
    return result == WIRE_END;
}

static bool is_packed_varints(struct slice packed)
{
    struct wire wire = wire_of(packed);
    uint64_t value;
    while (wire_left(&wire) > 0) {
        if (!wire_uvarint(&wire, &value)) {
            return false;
        }
    }
    return true;
}

static bool is_good_field(const struct wire_field *field, enum shape shape)
{
    if (field->number > (shape == SHAPE_TIME ? 2u : 1u)) {
        return true; /* unknown */
    }
    switch (field->type) {
    case WIRE_VARINT:
        return shape != SHAPE_TEXTS;
    case WIRE_BYTES:
        return shape == SHAPE_TEXTS || (shape == SHAPE_NUMBERS && is_packed_varints(field->bytes));
    case WIRE_FIXED64:
    case WIRE_FIXED32:
    case WIRE_GROUP_START:
    case WIRE_GROUP_END:
        return false;
    }
    return false;
}

/* All fields of an array or timestamp message have whole lengths and known types. */
static bool is_walkable(struct slice message, enum shape shape)
{
    struct wire wire = wire_of(message);
    struct wire_field field;
    enum wire_result result;
    while ((result = wire_next(&wire, &field)) == WIRE_FIELD) {
        if (!is_good_field(&field, shape)) {
            return false;
        }
    }
    return result == WIRE_END;
}

static bool read_variant(enum shape shape, const struct wire_field *variant, struct cell *cell)
{
    struct wire_field value;
    switch (shape) {
    case SHAPE_UNKNOWN:
        return true;
    case SHAPE_NULL:
        cell->kind = CELL_NULL;
        return variant->type == WIRE_VARINT;
    case SHAPE_TEXT:
        cell->kind = CELL_STRING;
        if (variant->type != WIRE_BYTES || !read_wrapped(variant->bytes, WIRE_BYTES, &value)) {
            return false;
        }
        cell->bytes = value.bytes;
        return true;
    case SHAPE_NUMBER:
        cell->kind = CELL_INT;
        if (variant->type != WIRE_BYTES || !read_wrapped(variant->bytes, WIRE_VARINT, &value)) {
            return false;
        }
        cell->number.i = (int64_t)value.value;
        return true;
    case SHAPE_DOUBLE:
        cell->kind = CELL_FLOAT;
        if (variant->type != WIRE_BYTES || !read_wrapped(variant->bytes, WIRE_FIXED64, &value)) {
            return false;
        }
        memcpy(&cell->number.f, &value.value, sizeof cell->number.f);
        return true;
    case SHAPE_RAW:
        cell->kind = CELL_BINARY;
        cell->bytes = variant->bytes;
        return variant->type == WIRE_BYTES;
    case SHAPE_TEXTS:
    case SHAPE_NUMBERS:
    case SHAPE_TIME:
        cell->kind = shape == SHAPE_TEXTS     ? CELL_STRINGS
                     : shape == SHAPE_NUMBERS ? CELL_INTS
                                              : CELL_TIME;
        cell->inner = variant->bytes;
        return variant->type == WIRE_BYTES && is_walkable(variant->bytes, shape);
    }
    return false;
}

static bool read_fields(enum column_type type, struct slice message, struct cell *cell)
{
    struct wire wire = wire_of(message);
    struct wire_field field;
    enum wire_result result;
    cell->kind = CELL_NULL;
    for (const uint8_t *start = wire.at; (result = wire_next(&wire, &field)) == WIRE_FIELD;
         start = wire.at) {
        enum shape shape = shape_of(type, field.number);
        if (!read_variant(shape, &field, cell)) {
            return false;
        }
        if (shape >= SHAPE_TEXTS) {
            cell->bytes = slice_of(start, (size_t)(wire.at - start));
        }
    }
    return result == WIRE_END;
}

static bool read_short_int(struct slice varint, struct cell *cell)
{
    struct wire wire = wire_of(varint);
    uint64_t value = 0;
    bool whole = wire_uvarint(&wire, &value) && wire_left(&wire) == 0;
    cell->kind = CELL_INT;
    cell->number.i = (int64_t)value;
    return whole;
}

#define KEYS(variant, type) (((variant) << 3 | WIRE_BYTES) << 8 | (1 << 3 | (type)))

/* Nearly all cells are `variant length | 1 value` with lengths of one byte and nothing behind:
 * these are read at a glance. False: another spelling, good or not. */
static bool read_short(enum column_type type, struct slice message, struct cell *cell)
{
    const uint8_t *at = message.ptr;
    if (message.len < 4 || message.len >= 0x82 || at[1] != message.len - 2) {
        return false;
    }
    const unsigned keys = (unsigned)at[0] << 8 | at[2];
    struct slice value = slice_of(at + 3, message.len - 3);
    if (keys == KEYS(2, WIRE_BYTES)) {
        cell->kind = CELL_STRING;
        cell->bytes = slice_of(value.ptr + 1, value.len - 1);
        return value.ptr[0] == value.len - 1;
    }
    if (keys == (type == COLUMN_TAG_VALUE ? KEYS(4, WIRE_VARINT) : KEYS(3, WIRE_VARINT))) {
        return read_short_int(value, cell);
    }
    if (type == COLUMN_FIELD_VALUE && keys == KEYS(5, WIRE_FIXED64) && value.len == 8) {
        cell->kind = CELL_FLOAT;
        memcpy(&cell->number.f, value.ptr, sizeof cell->number.f);
        return true;
    }
    return false;
}

bool cell_read_message(const struct column *column, struct slice message, struct cell *cell)
{
    return read_short(column->type, message, cell) || read_fields(column->type, message, cell);
}

bool cell_malformed(const struct column *column, size_t row, struct error *err)
{
    return error_set(err, ERROR_DATA_LOSS,
                     "column \"%.*s\" row %zu: its %s cell is not a well-formed protobuf message",
                     SLICE_ARG(column->name), row, column_type_name((uint8_t)column->type));
}

struct cell cell_keep(struct arena *arena, const struct cell *cell)
{
    struct cell kept = *cell;
    switch (cell->kind) {
    case CELL_NULL:
    case CELL_INT:
    case CELL_FLOAT:
        break;
    case CELL_STRING:
    case CELL_BINARY:
        kept.bytes = arena_keep(arena, cell->bytes);
        break;
    case CELL_STRINGS:
    case CELL_INTS:
    case CELL_TIME:
        kept.bytes = arena_keep(arena, cell->bytes);
        kept.inner =
            slice_of(kept.bytes.ptr + (cell->inner.ptr - cell->bytes.ptr), cell->inner.len);
        break;
    }
    return kept;
}
