// SPDX-License-Identifier: Apache-2.0
/* As deep as the message, whose depth was bounded when it was read. */
#include "proto/message_size.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CHUNK ((size_t)16) /* glibc's: a word in front, multiples of 16, 32 at least */

size_t message_size_chunk(size_t size)
{
    const size_t chunk = (size + sizeof(size_t) + CHUNK - 1) / CHUNK * CHUNK;
    return chunk < 2 * CHUNK ? 2 * CHUNK : chunk;
}

/* Texts that were not set point to a constant. */
static size_t text_size(const ProtobufCFieldDescriptor *field, const char *text)
{
    const bool constant = text == protobuf_c_empty_string || text == field->default_value;
    return constant || text == NULL ? 0 : message_size_chunk(strlen(text) + 1);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static size_t value_size(const ProtobufCFieldDescriptor *field, const uint8_t *at)
{
    const void *pointer;
    ProtobufCBinaryData bytes;
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        memcpy(&pointer, at, sizeof pointer);
        return text_size(field, pointer);
    case PROTOBUF_C_TYPE_BYTES:
        memcpy(&bytes, at, sizeof bytes);
        return bytes.data == NULL ? 0 : message_size_chunk(bytes.len);
    case PROTOBUF_C_TYPE_MESSAGE:
        memcpy(&pointer, at, sizeof pointer);
        return message_size(pointer);
    default:
        return 0;
    }
}

/* Of numbers the largest. */
static size_t element_size(const ProtobufCFieldDescriptor *field)
{
    return field->type == PROTOBUF_C_TYPE_BYTES ? sizeof(ProtobufCBinaryData) : sizeof(void *);
}

static bool has_parts(const ProtobufCFieldDescriptor *field)
{
    return field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_BYTES ||
           field->type == PROTOBUF_C_TYPE_MESSAGE;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static size_t list_size(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    const uint8_t *base = (const uint8_t *)message;
    const uint8_t *list;
    size_t count;
    memcpy(&list, base + field->offset, sizeof list);
    memcpy(&count, base + field->quantifier_offset, sizeof count);
    if (list == NULL) {
        return 0;
    }
    size_t size = message_size_chunk(count * element_size(field));
    for (size_t i = 0; has_parts(field) && i < count; i++) {
        size += value_size(field, list + i * element_size(field));
    }
    return size;
}

/* Of the fields of a oneof only the one that is set lies where all of them do. */
static bool is_there(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0) {
        return true;
    }
    uint32_t set;
    memcpy(&set, (const uint8_t *)message + field->quantifier_offset, sizeof set);
    return set == field->id;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
size_t message_size(const ProtobufCMessage *message)
{
    if (message == NULL) {
        return 0;
    }
    size_t size = message_size_chunk(message->descriptor->sizeof_message);
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            size += list_size(message, field);
        } else if (is_there(message, field)) {
            size += value_size(field, (const uint8_t *)message + field->offset);
        }
    }
    return size;
}
