// SPDX-License-Identifier: Apache-2.0
/* Each function looks first and moves the cursor only when all it wants is there. */
#include "frame/wire.h"

#define GROUP_DEPTH      100   /* protobuf's own nesting limit */
#define GROUP_FIELDS     65536 /* in all groups of a message: nobody writes them any more */
#define FIELD_NUMBER_MAX ((1u << 29) - 1)

bool wire_uvarint(struct wire *wire, uint64_t *value_out)
{
    const uint8_t *at = wire->at;
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70 && at < wire->end; shift += 7) {
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1) {
            return false;
        }
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *value_out = value;
            wire->at = at;
            return true;
        }
    }
    return false;
}

bool wire_u8(struct wire *wire, uint8_t *value_out)
{
    if (wire->at == wire->end) {
        return false;
    }
    *value_out = *wire->at++;
    return true;
}

bool wire_take(struct wire *wire, size_t len, struct slice *bytes_out)
{
    if (len > wire_left(wire)) {
        return false;
    }
    *bytes_out = slice_of(wire->at, len);
    if (len > 0) {
        wire->at += len;
    }
    return true;
}

static bool read_key(struct wire *wire, struct wire_field *field)
{
    uint64_t key;
    if (!wire_uvarint(wire, &key) || (key & 7) > WIRE_FIXED32) {
        return false;
    }
    uint64_t number = key >> 3;
    if (number == 0 || number > FIELD_NUMBER_MAX) {
        return false;
    }
    *field = (struct wire_field){.number = (uint32_t)number, .type = (enum wire_type)(key & 7)};
    return true;
}

static bool read_fixed(struct wire *wire, size_t len, uint64_t *value_out)
{
    struct slice bytes;
    if (!wire_take(wire, len, &bytes)) {
        return false;
    }
    *value_out = len == 8 ? wire_load64(bytes.ptr) : wire_load32(bytes.ptr);
    return true;
}

static bool read_bytes(struct wire *wire, struct slice *bytes_out)
{
    uint64_t len;
    return wire_uvarint(wire, &len) && wire_take(wire, (size_t)len, bytes_out);
}

static bool read_value(struct wire *wire, struct wire_field *field)
{
    switch (field->type) {
    case WIRE_VARINT:
        return wire_uvarint(wire, &field->value);
    case WIRE_FIXED64:
        return read_fixed(wire, 8, &field->value);
    case WIRE_BYTES:
        return read_bytes(wire, &field->bytes);
    case WIRE_FIXED32:
        return read_fixed(wire, 4, &field->value);
    case WIRE_GROUP_START:
    case WIRE_GROUP_END:
        return false;
    }
    return false;
}

/* The numbers of the groups that are open; an end must carry the number of the last start. */
struct groups {
    uint32_t open[GROUP_DEPTH];
    size_t depth;
};

static bool step_group(struct groups *groups, struct wire *wire, struct wire_field *field)
{
    if (field->type == WIRE_GROUP_START) {
        if (groups->depth == GROUP_DEPTH) {
            return false;
        }
        groups->open[groups->depth++] = field->number;
        return true;
    }
    if (field->type == WIRE_GROUP_END) {
        return field->number == groups->open[--groups->depth];
    }
    return read_value(wire, field);
}

static bool skip_group(struct wire *wire, uint32_t number)
{
    struct groups groups = {.open = {number}, .depth = 1};
    struct wire_field field;
    while (groups.depth > 0) {
        if (!read_key(wire, &field) || !step_group(&groups, wire, &field) ||
            ++wire->skipped > GROUP_FIELDS) {
            return false;
        }
    }
    return true;
}

enum wire_result wire_next(struct wire *wire, struct wire_field *field)
{
    while (wire->at != wire->end) {
        if (!read_key(wire, field)) {
            return WIRE_BROKEN;
        }
        if (field->type != WIRE_GROUP_START) {
            return read_value(wire, field) ? WIRE_FIELD : WIRE_BROKEN;
        }
        if (!skip_group(wire, field->number)) {
            return WIRE_BROKEN;
        }
    }
    return WIRE_END;
}
