// SPDX-License-Identifier: Apache-2.0
#include "proto/pbjson.h"

#include "proto/alloc.h"
#include "proto/pbjson_name.h"
#include "proto/pbjson_scalar.h"
#include "proto/rfc3339.h"
#include "proto/timestamp.pb-c.h"

#include <stdio.h>

/* Where in the tree we are: a list of stack frames, turned into a path only for an error. */
struct place {
    const struct place *parent; /* borrow: the caller's frame */
    const char *key;            /* borrow: the tree; NULL = an element of an array */
    size_t index;
    size_t depth;
};

struct reader {
    ProtobufCAllocator *allocator; /* borrow; NULL = heap */
    struct error *err;             /* borrow */
};

/* "tagFamilies[2].name", written from its end; a path that is too long loses its beginning. */
static const char *path_text(const struct place *place, char *buf, size_t size)
{
    size_t at = size - 1;
    buf[at] = '\0';
    for (; place != NULL && (place->key != NULL || place->parent != NULL); place = place->parent) {
        char part[128];
        bool top = place->parent == NULL || place->parent->parent == NULL;
        int len = place->key == NULL
                      ? snprintf(part, sizeof part, "[%zu]", place->index)
                      : snprintf(part, sizeof part, "%s%.100s", top ? "" : ".", place->key);
        if ((size_t)len > at) {
            break;
        }
        at -= (size_t)len;
        memcpy(buf + at, part, (size_t)len);
    }
    return buf + at;
}

/* Puts the path before what is already in err. */
static bool at_place(struct reader *reader, const struct place *place)
{
    char buf[256];
    const char *path = path_text(place, buf, sizeof buf);
    return *path == '\0' ? false : error_prefix(reader->err, "%s", path);
}

static bool expected(struct reader *reader, const struct place *place, const char *what,
                     const json_t *value)
{
    error_set(reader->err, ERROR_INVALID_ARGUMENT, "%s is expected, found %s", what,
              pbjson_scalar_kind(value));
    return at_place(reader, place);
}

/* Messages nest, and so do the functions that read them: PBJSON_MAX_DEPTH levels at most. */
/* NOLINTBEGIN(misc-no-recursion) */

static bool read_message(struct reader *reader, const struct place *place, const json_t *value,
                         const ProtobufCMessageDescriptor *descriptor,
                         ProtobufCMessage **message_out);

static bool read_timestamp(struct reader *reader, const struct place *place, const json_t *value,
                           ProtobufCMessage *message)
{
    if (!json_is_string(value)) {
        return expected(reader, place, "an RFC 3339 time", value);
    }
    struct moment moment;
    if (!rfc3339_parse(slice_of(json_string_value(value), json_string_length(value)), &moment)) {
        error_set(reader->err, ERROR_INVALID_ARGUMENT,
                  "an RFC 3339 time is expected, found \"%.64s\"", json_string_value(value));
        return at_place(reader, place);
    }
    /* The only message whose JSON form is not an object. */
    Google__Protobuf__Timestamp *timestamp = (Google__Protobuf__Timestamp *)message;
    timestamp->seconds = moment.seconds;
    timestamp->nanos = moment.nanos;
    return true;
}

static bool read_value(struct reader *reader, const struct place *place, const json_t *value,
                       const ProtobufCFieldDescriptor *field, void *member)
{
    if (json_is_null(value) && !pbjson_scalar_takes_null(field)) {
        return expected(reader, place, "a value", value);
    }
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        return read_message(reader, place, value, field->descriptor, member);
    }
    return pbjson_scalar_read(value, field, reader->allocator, member, reader->err) ||
           at_place(reader, place);
}

/* The array of a repeated field; its count grows as elements are filled, so that a half-made
 * message can be freed. */
static uint8_t *new_elements(struct reader *reader, const ProtobufCFieldDescriptor *field,
                             ProtobufCMessage *message, size_t count)
{
    if (count == 0) {
        return NULL;
    }
    uint8_t *elements = alloc_zeroed(reader->allocator, count * pbjson_scalar_size(field->type));
    memcpy((uint8_t *)message + field->offset, &elements, sizeof elements);
    return elements;
}

static size_t *count_of(const ProtobufCFieldDescriptor *field, ProtobufCMessage *message)
{
    return (size_t *)(void *)((uint8_t *)message + field->quantifier_offset);
}

static bool read_array(struct reader *reader, const struct place *place, const json_t *value,
                       const ProtobufCFieldDescriptor *field, ProtobufCMessage *message)
{
    if (!json_is_array(value)) {
        return expected(reader, place, "an array", value);
    }
    size_t count = json_array_size(value);
    size_t size = pbjson_scalar_size(field->type);
    uint8_t *elements = new_elements(reader, field, message, count);
    for (size_t i = 0; i < count; i++) {
        struct place element = {.parent = place, .index = i, .depth = place->depth};
        *count_of(field, message) = i + 1;
        if (!read_value(reader, &element, json_array_get(value, i), field, elements + i * size)) {
            return false;
        }
    }
    return true;
}

/* A key is a JSON string whatever its type in the map. */
static bool read_entry(struct reader *reader, const struct place *place, const char *key,
                       const json_t *value, ProtobufCMessage *entry)
{
    const ProtobufCFieldDescriptor *fields = entry->descriptor->fields;
    json_t *text = json_string(key);
    bool ok = read_value(reader, place, text, &fields[0], (uint8_t *)entry + fields[0].offset);
    json_decref(text);
    return ok && read_value(reader, place, value, &fields[1], (uint8_t *)entry + fields[1].offset);
}

static ProtobufCMessage *new_message(struct reader *reader,
                                     const ProtobufCMessageDescriptor *descriptor)
{
    ProtobufCMessage *message = alloc_zeroed(reader->allocator, descriptor->sizeof_message);
    protobuf_c_message_init(descriptor, message);
    return message;
}

static bool read_map(struct reader *reader, const struct place *place, const json_t *value,
                     const ProtobufCFieldDescriptor *field, ProtobufCMessage *message)
{
    if (!json_is_object(value)) {
        return expected(reader, place, "an object", value);
    }
    ProtobufCMessage **entries =
        (ProtobufCMessage **)(void *)new_elements(reader, field, message, json_object_size(value));
    const char *key;
    json_t *item;
    size_t i = 0;
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        struct place element = {.parent = place, .key = key, .depth = place->depth};
        entries[i] = new_message(reader, field->descriptor);
        *count_of(field, message) = i + 1;
        if (!read_entry(reader, &element, key, item, entries[i])) {
            return false;
        }
        i++;
    }
    return true;
}

/* Which member of a oneof is set is told before the member is filled: freeing relies on it. */
static bool claim_oneof(struct reader *reader, const struct place *place,
                        const ProtobufCFieldDescriptor *field, ProtobufCMessage *message)
{
    uint32_t set;
    void *which = (uint8_t *)message + field->quantifier_offset;
    memcpy(&set, which, sizeof set);
    if (set != 0) {
        error_set(reader->err, ERROR_INVALID_ARGUMENT,
                  "another member of the same oneof is set already");
        return at_place(reader, place);
    }
    memcpy(which, &field->id, sizeof field->id);
    return true;
}

static bool read_field(struct reader *reader, const struct place *place, const json_t *value,
                       const ProtobufCFieldDescriptor *field, ProtobufCMessage *message)
{
    if (json_is_null(value) && !pbjson_scalar_takes_null(field)) {
        return true;
    }
    if (pbjson_name_is_map(field)) {
        return read_map(reader, place, value, field, message);
    }
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        return read_array(reader, place, value, field, message);
    }
    if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 &&
        !claim_oneof(reader, place, field, message)) {
        return false;
    }
    return read_value(reader, place, value, field, (uint8_t *)message + field->offset);
}

/* Both spellings of one field would be a key that comes twice. */
static bool first_time(struct reader *reader, const struct place *place, unsigned field,
                       uint64_t *seen)
{
    uint64_t bit = UINT64_C(1) << (field & 63);
    if ((*seen & bit) != 0) {
        error_set(reader->err, ERROR_INVALID_ARGUMENT, "the field comes twice");
        return at_place(reader, place);
    }
    *seen |= bit;
    return true;
}

static bool read_fields(struct reader *reader, const struct place *place, const json_t *value,
                        ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *descriptor = message->descriptor;
    const char *key;
    json_t *item;
    uint64_t seen = 0;
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        const ProtobufCFieldDescriptor *field = pbjson_name_field(descriptor, key);
        if (field == NULL) {
            continue;
        }
        struct place inner = {.parent = place, .key = key, .depth = place->depth};
        if (!first_time(reader, &inner, (unsigned)(field - descriptor->fields), &seen) ||
            !read_field(reader, &inner, item, field, message)) {
            return false;
        }
    }
    return true;
}

/* Attaches the message before it is filled, so that its owner can free it half-made. */
static bool read_message(struct reader *reader, const struct place *place, const json_t *value,
                         const ProtobufCMessageDescriptor *descriptor,
                         ProtobufCMessage **message_out)
{
    if (place->depth >= PBJSON_MAX_DEPTH) {
        error_set(reader->err, ERROR_INVALID_ARGUMENT, "more than %d nested messages",
                  PBJSON_MAX_DEPTH);
        return at_place(reader, place);
    }
    *message_out = new_message(reader, descriptor);
    if (descriptor == &google__protobuf__timestamp__descriptor) {
        return read_timestamp(reader, place, value, *message_out);
    }
    if (!json_is_object(value)) {
        return expected(reader, place, "an object", value);
    }
    struct place inside = *place;
    inside.depth++;
    return read_fields(reader, &inside, value, *message_out);
}

/* NOLINTEND(misc-no-recursion) */

bool pbjson_message(const json_t *object, const ProtobufCMessageDescriptor *descriptor,
                    ProtobufCAllocator *allocator, ProtobufCMessage **message_out,
                    struct error *err)
{
    struct reader reader = {.allocator = allocator, .err = err};
    struct place top = {.parent = NULL};
    *message_out = NULL;
    if (read_message(&reader, &top, object, descriptor, message_out)) {
        return true;
    }
    if (*message_out != NULL) {
        protobuf_c_message_free_unpacked(*message_out, allocator);
        *message_out = NULL;
    }
    return false;
}

bool pbjson_read(struct slice text, const ProtobufCMessageDescriptor *descriptor,
                 ProtobufCAllocator *allocator, ProtobufCMessage **message_out, struct error *err)
{
    json_error_t reason;
    json_t *tree = json_loadb((const char *)text.ptr, text.len, JSON_REJECT_DUPLICATES, &reason);
    if (tree == NULL) {
        return error_set(err, ERROR_INVALID_ARGUMENT, "JSON line %d column %d: %s", reason.line,
                         reason.column, reason.text);
    }
    bool ok = pbjson_message(tree, descriptor, allocator, message_out, err);
    json_decref(tree);
    return ok;
}
