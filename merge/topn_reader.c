// SPDX-License-Identifier: Apache-2.0
#include "merge/topn_reader.h"

/* cell_read_message looks at a column's type alone. */
static const struct column tag_value = {.role = COLUMN_TAG, .type = COLUMN_TAG_VALUE};
static const struct column field_value = {.role = COLUMN_FIELD, .type = COLUMN_FIELD_VALUE};

void topn_reader_init(struct topn_reader *reader, struct slice body)
{
    *reader = (struct topn_reader){.lists = wire_of(body), .items = wire_of(slice_of("", 0))};
}

/* The next field of this number, which is a message. Others are skipped. */
static enum wire_result next_message(struct wire *wire, uint32_t number, struct slice *message_out)
{
    struct wire_field field;
    enum wire_result result;
    while ((result = wire_next(wire, &field)) == WIRE_FIELD) {
        if (field.number == number) {
            *message_out = field.bytes;
            return field.type == WIRE_BYTES ? WIRE_FIELD : WIRE_BROKEN;
        }
    }
    return result;
}

/* The next item of this list or of one behind it. */
static enum wire_result next_item(struct topn_reader *reader, struct slice *item_out)
{
    for (;;) {
        enum wire_result result = next_message(&reader->items, 2, item_out);
        if (result != WIRE_END) {
            return result;
        }
        struct slice list;
        result = next_message(&reader->lists, 1, &list);
        if (result != WIRE_FIELD) {
            return result;
        }
        reader->items = wire_of(list);
    }
}

static bool read_tag(struct slice tag, struct tuple *tags)
{
    struct cell name = {.kind = CELL_STRING, .bytes = slice_of("", 0)};
    struct cell value = {.kind = CELL_NULL};
    struct wire wire = wire_of(tag);
    struct wire_field field;
    enum wire_result result;
    while ((result = wire_next(&wire, &field)) == WIRE_FIELD) {
        if (field.number != 1 && field.number != 2) {
            continue;
        }
        if (field.type != WIRE_BYTES) {
            return false;
        }
        if (field.number == 1) {
            name.bytes = field.bytes;
        } else if (!cell_read_message(&tag_value, field.bytes, &value)) {
            return false;
        }
    }
    tuple_put(tags, &name);
    tuple_put(tags, &value);
    return result == WIRE_END;
}

static bool read_time(struct slice timestamp, int64_t *milliseconds_out)
{
    uint64_t seconds = 0;
    uint64_t nanos = 0;
    struct wire wire = wire_of(timestamp);
    struct wire_field field;
    enum wire_result result;
    while ((result = wire_next(&wire, &field)) == WIRE_FIELD) {
        if (field.number != 1 && field.number != 2) {
            continue;
        }
        if (field.type != WIRE_VARINT) {
            return false;
        }
        *(field.number == 1 ? &seconds : &nanos) = field.value;
    }
    /* wraps around for seconds that no clock shows */
    *milliseconds_out = (int64_t)(seconds * 1000 + (uint64_t)((int32_t)nanos / 1000000));
    return result == WIRE_END;
}

static bool read_field(const struct wire_field *field, struct tuple *tags, struct topn_read *item)
{
    switch (field->number) {
    case 1:
        return field->type == WIRE_BYTES && read_tag(field->bytes, tags);
    case 2:
        return field->type == WIRE_BYTES &&
               cell_read_message(&field_value, field->bytes, &item->value);
    case 3:
        item->version = (int64_t)field->value;
        return field->type == WIRE_VARINT;
    case 4:
        return field->type == WIRE_BYTES && read_time(field->bytes, &item->time);
    default:
        return true;
    }
}

static bool read_item(struct slice message, struct tuple *tags, struct topn_read *item)
{
    struct wire wire = wire_of(message);
    struct wire_field field;
    enum wire_result result;
    *item = (struct topn_read){.value.kind = CELL_NULL};
    tuple_clear(tags);
    while ((result = wire_next(&wire, &field)) == WIRE_FIELD) {
        if (!read_field(&field, tags, item)) {
            return false;
        }
    }
    if (item->value.kind != CELL_INT && item->value.kind != CELL_FLOAT) {
        item->value.kind = CELL_NULL;
    }
    return result == WIRE_END;
}

enum topn_reader_state topn_reader_next(struct topn_reader *reader, struct tuple *tags,
                                        struct topn_read *item, struct error *err)
{
    struct slice message;
    enum wire_result result = next_item(reader, &message);
    if (result == WIRE_END) {
        return TOPN_READER_END;
    }
    if (result == WIRE_FIELD && read_item(message, tags, item)) {
        reader->count++;
        return TOPN_READER_ITEM;
    }
    error_set(err, ERROR_DATA_LOSS,
              "the TopNResponse is not a well-formed protobuf message, found at item %zu",
              reader->count);
    return TOPN_READER_BROKEN;
}
