// SPDX-License-Identifier: Apache-2.0
#include "proto/depth.h"

#include "frame/wire.h"
#include "proto/model.pb-c.h"
#include "proto/utf8.h"

#include <stdalign.h>

/* For each field that it meets protobuf-c keeps a note (32 bytes, in tables that double), an
 * element of an array or a pointer, and each allocation is rounded up. */
#define FIELD_COST (2 * 32 + 16 + alignof(max_align_t))

/* A message whose fields are being walked. */
struct level {
    struct wire wire;
    const ProtobufCMessageDescriptor *descriptor;
    unsigned criteria; /* of its ancestors and itself */
};

struct rules {
    size_t most; /* levels */
    bool texts;  /* are looked at */
};

struct walk {
    struct slice bytes;
    struct rules rules;
    size_t depth; /* levels in use */
    size_t memory;
    struct error *err; /* borrow */
    struct level levels[DEPTH_MAX_MESSAGES];
};

static bool malformed(struct walk *walk, const struct level *level, const char *what)
{
    return error_set(walk->err, ERROR_INTERNAL,
                     "grpc: error unmarshalling request: proto: cannot parse invalid wire-format "
                     "data (%s in %s, near byte %zu)",
                     what, level->descriptor->name, (size_t)(level->wire.at - walk->bytes.ptr));
}

static bool enter(struct walk *walk, const ProtobufCMessageDescriptor *descriptor,
                  struct slice bytes, unsigned criteria)
{
    criteria += descriptor == &banyandb__model__v1__criteria__descriptor;
    if (walk->depth == walk->rules.most || criteria > DEPTH_MAX_CRITERIA) {
        return error_set(walk->err, ERROR_INVALID_ARGUMENT,
                         "the request is nested too deep: at most %d levels of criteria (%zu "
                         "messages) are accepted, level %u (message %zu) begins at byte %zu of %zu",
                         DEPTH_MAX_CRITERIA, walk->rules.most, criteria, walk->depth + 1,
                         (size_t)(bytes.ptr - walk->bytes.ptr), walk->bytes.len);
    }
    walk->levels[walk->depth++] =
        (struct level){.wire = wire_of(bytes), .descriptor = descriptor, .criteria = criteria};
    walk->memory += descriptor->sizeof_message;
    return true;
}

static bool is_value(const ProtobufCMessageDescriptor *descriptor)
{
    return descriptor == &banyandb__model__v1__str__descriptor ||
           descriptor == &banyandb__model__v1__str_array__descriptor;
}

static bool check_string(struct walk *walk, const struct level *level,
                         const ProtobufCFieldDescriptor *field, struct slice text)
{
    if (!utf8_valid(text)) {
        return error_set(walk->err, ERROR_INTERNAL,
                         "grpc: error unmarshalling request: string field contains invalid UTF-8");
    }
    if (text.len > 0 && memchr(text.ptr, 0, text.len) != NULL && !is_value(level->descriptor)) {
        return error_set(walk->err, ERROR_INVALID_ARGUMENT,
                         "%s.%s contains a NUL character, no name has one", level->descriptor->name,
                         field->name);
    }
    return true;
}

static enum wire_type wire_type_of(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return WIRE_BYTES;
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return WIRE_FIXED64;
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
        return WIRE_FIXED32;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_BOOL:
    case PROTOBUF_C_TYPE_ENUM:
        return WIRE_VARINT;
    }
    return WIRE_VARINT;
}

/* Repeated numbers may come packed, one or more bytes each. */
static bool check_number(struct walk *walk, const struct level *level,
                         const ProtobufCFieldDescriptor *field, const struct wire_field *found)
{
    if (found->type == wire_type_of(field->type)) {
        return true;
    }
    if (field->label == PROTOBUF_C_LABEL_REPEATED && found->type == WIRE_BYTES) {
        walk->memory += 8 * found->bytes.len;
        return true;
    }
    return malformed(walk, level, field->name);
}

static bool check_field(struct walk *walk, const struct level *level,
                        const struct wire_field *found)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(level->descriptor, found->number);
    walk->memory += FIELD_COST;
    if (found->type == WIRE_BYTES) {
        walk->memory += found->bytes.len;
    }
    if (field == NULL) {
        walk->memory += sizeof(ProtobufCMessageUnknownField);
        return true;
    }
    if (wire_type_of(field->type) != WIRE_BYTES) {
        return check_number(walk, level, field, found);
    }
    if (found->type != WIRE_BYTES) {
        return malformed(walk, level, field->name);
    }
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        /* Its bytes are counted when its own fields are met. */
        walk->memory -= found->bytes.len;
        return enter(walk, field->descriptor, found->bytes, level->criteria);
    }
    return field->type != PROTOBUF_C_TYPE_STRING || !walk->rules.texts ||
           check_string(walk, level, field, found->bytes);
}

/* The levels are filled as they are entered. */
static bool go(struct walk *walk, const ProtobufCMessageDescriptor *descriptor)
{
    bool ok = enter(walk, descriptor, walk->bytes, 0);
    while (ok && walk->depth > 0) {
        struct level *level = &walk->levels[walk->depth - 1];
        struct wire_field field;
        switch (wire_next(&level->wire, &field)) {
        case WIRE_END:
            walk->depth--;
            break;
        case WIRE_FIELD:
            ok = check_field(walk, level, &field);
            break;
        case WIRE_BROKEN:
            ok = malformed(walk, level, "a field");
            break;
        }
    }
    return ok;
}

static bool walk_through(struct slice bytes, const ProtobufCMessageDescriptor *descriptor,
                         struct rules rules, size_t *memory_out, struct error *err)
{
    struct walk walk;
    walk.bytes = bytes;
    walk.rules = rules;
    walk.depth = 0;
    walk.memory = 0;
    walk.err = err;
    const bool ok = go(&walk, descriptor);
    *memory_out = walk.memory;
    return ok;
}

bool depth_check(struct slice bytes, const ProtobufCMessageDescriptor *descriptor,
                 size_t *memory_out, struct error *err)
{
    const struct rules rules = {.most = DEPTH_MAX_MESSAGES, .texts = true};
    return walk_through(bytes, descriptor, rules, memory_out, err);
}

bool depth_is_readable(struct slice bytes, const ProtobufCMessageDescriptor *descriptor)
{
    const struct rules rules = {.most = DEPTH_READABLE_MESSAGES, .texts = true};
    size_t memory;
    return walk_through(bytes, descriptor, rules, &memory, NULL);
}

bool depth_measure(struct slice bytes, const ProtobufCMessageDescriptor *descriptor,
                   size_t *memory_out)
{
    const struct rules rules = {.most = DEPTH_MAX_MESSAGES, .texts = false};
    return walk_through(bytes, descriptor, rules, memory_out, NULL);
}
