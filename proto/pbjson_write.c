// SPDX-License-Identifier: Apache-2.0
#include "proto/pbjson_write.h"

#include "proto/base64.h"
#include "proto/pbjson_name.h"
#include "proto/pbjson_scalar.h"
#include "proto/rfc3339.h"
#include "proto/timestamp.pb-c.h"
#include "proto/utf8.h"

#include <jansson.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    FILE *out; /* borrow */
    enum pbjson_fields fields;
};

/* Escaping is jansson's; it takes UTF-8 only. */
static void write_string(struct writer *writer, const char *text)
{
    text = text == NULL ? "" : text;
    json_t *string = json_string(text);
    if (string == NULL) {
        char *clean = utf8_replace(slice_str(text));
        string = json_string(clean);
        free(clean);
    }
    json_dumpf(string, writer->out, JSON_ENCODE_ANY);
    json_decref(string);
}

static char upper(char c)
{
    return (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}

/* "time_range" → "timeRange". */
static void write_name(struct writer *writer, const char *name)
{
    char text[128];
    size_t len = 0;
    for (; *name != '\0' && len < sizeof text - 1; name++) {
        if (*name == '_' && name[1] != '\0') {
            name++;
            text[len++] = upper(*name);
        } else {
            text[len++] = *name;
        }
    }
    text[len] = '\0';
    (void)fprintf(writer->out, "\"%s\":", text);
}

/* The fewest digits that read back as the same number. */
static void write_double(struct writer *writer, double value)
{
    if (isnan(value)) {
        (void)fputs("\"NaN\"", writer->out);
        return;
    }
    if (isinf(value)) {
        (void)fputs(value > 0 ? "\"Infinity\"" : "\"-Infinity\"", writer->out);
        return;
    }
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    (void)fputs(text, writer->out);
}

static void write_bytes(struct writer *writer, const ProtobufCBinaryData *bytes)
{
    char *text = base64_encode(slice_of(bytes->data, bytes->len));
    (void)fprintf(writer->out, "\"%s\"", text);
    free(text);
}

static void write_enum(struct writer *writer, const ProtobufCEnumDescriptor *descriptor, int value)
{
    const ProtobufCEnumValue *known = protobuf_c_enum_descriptor_get_value(descriptor, value);
    if (strcmp(descriptor->name, "google.protobuf.NullValue") == 0) {
        (void)fputs("null", writer->out);
    } else if (known != NULL) {
        (void)fprintf(writer->out, "\"%s\"", known->name);
    } else {
        (void)fprintf(writer->out, "%d", value);
    }
}

/* Messages nest as deep as the request that was read, which was checked. */
static void write_message(struct writer *writer, const ProtobufCMessage *message);

/* NOLINTNEXTLINE(misc-no-recursion) */
static void write_value(struct writer *writer, const ProtobufCFieldDescriptor *field,
                        const void *member)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        (void)fprintf(writer->out, "%" PRId32, *(const int32_t *)member);
        return;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        (void)fprintf(writer->out, "%" PRIu32, *(const uint32_t *)member);
        return;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        (void)fprintf(writer->out, "\"%" PRId64 "\"", *(const int64_t *)member);
        return;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        (void)fprintf(writer->out, "\"%" PRIu64 "\"", *(const uint64_t *)member);
        return;
    case PROTOBUF_C_TYPE_FLOAT:
        write_double(writer, (double)*(const float *)member);
        return;
    case PROTOBUF_C_TYPE_DOUBLE:
        write_double(writer, *(const double *)member);
        return;
    case PROTOBUF_C_TYPE_BOOL:
        (void)fputs(*(const protobuf_c_boolean *)member ? "true" : "false", writer->out);
        return;
    case PROTOBUF_C_TYPE_ENUM:
        write_enum(writer, field->descriptor, *(const int *)member);
        return;
    case PROTOBUF_C_TYPE_STRING:
        write_string(writer, *(char *const *)member);
        return;
    case PROTOBUF_C_TYPE_BYTES:
        write_bytes(writer, member);
        return;
    case PROTOBUF_C_TYPE_MESSAGE:
        write_message(writer, *(ProtobufCMessage *const *)member);
        return;
    }
}

static bool is_unset(const ProtobufCFieldDescriptor *field, const void *member)
{
    static const uint8_t zero[sizeof(ProtobufCBinaryData)];
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING: {
        const char *text = *(char *const *)member;
        return text == NULL || text[0] == '\0';
    }
    case PROTOBUF_C_TYPE_BYTES:
        return ((const ProtobufCBinaryData *)member)->len == 0;
    default:
        return memcmp(member, zero, pbjson_scalar_size(field->type)) == 0;
    }
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void write_array(struct writer *writer, const ProtobufCFieldDescriptor *field,
                        const uint8_t *elements, size_t count)
{
    (void)fputc('[', writer->out);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i == 0 ? "" : ",", writer->out);
        write_value(writer, field, elements + i * pbjson_scalar_size(field->type));
    }
    (void)fputc(']', writer->out);
}

/* Keys are strings in JSON whatever their type. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void write_key(struct writer *writer, const ProtobufCFieldDescriptor *field,
                      const void *member)
{
    bool quoted = field->type == PROTOBUF_C_TYPE_STRING || pbjson_scalar_size(field->type) == 8;
    (void)fputs(quoted ? "" : "\"", writer->out);
    write_value(writer, field, member);
    (void)fputs(quoted ? ":" : "\":", writer->out);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void write_map(struct writer *writer, ProtobufCMessage *const *entries, size_t count)
{
    (void)fputc('{', writer->out);
    for (size_t i = 0; i < count; i++) {
        const ProtobufCFieldDescriptor *fields = entries[i]->descriptor->fields;
        const uint8_t *entry = (const uint8_t *)entries[i];
        (void)fputs(i == 0 ? "" : ",", writer->out);
        write_key(writer, &fields[0], entry + fields[0].offset);
        write_value(writer, &fields[1], entry + fields[1].offset);
    }
    (void)fputc('}', writer->out);
}

static bool is_oneof(const ProtobufCFieldDescriptor *field)
{
    return (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
}

/* Whether the field is written; a oneof's member is when it is the one that is set. */
static bool is_wanted(const struct writer *writer, const ProtobufCMessage *message,
                      const ProtobufCFieldDescriptor *field)
{
    const uint8_t *base = (const uint8_t *)message;
    if (is_oneof(field)) {
        return *(const uint32_t *)(const void *)(base + field->quantifier_offset) == field->id;
    }
    if (writer->fields == PBJSON_ALL) {
        return true;
    }
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        return *(const size_t *)(const void *)(base + field->quantifier_offset) > 0;
    }
    return !is_unset(field, base + field->offset);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void write_field(struct writer *writer, const ProtobufCMessage *message,
                        const ProtobufCFieldDescriptor *field)
{
    const uint8_t *member = (const uint8_t *)message + field->offset;
    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
        write_value(writer, field, member);
        return;
    }
    size_t count =
        *(const size_t *)(const void *)((const uint8_t *)message + field->quantifier_offset);
    const void *elements = *(void *const *)(const void *)member;
    if (pbjson_name_is_map(field)) {
        write_map(writer, elements, count);
    } else {
        write_array(writer, field, elements, count);
    }
}

static void write_timestamp(struct writer *writer, const ProtobufCMessage *message)
{
    char text[RFC3339_SIZE];
    rfc3339_print(moment_of((const Google__Protobuf__Timestamp *)message), text);
    (void)fprintf(writer->out, "\"%s\"", text);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void write_message(struct writer *writer, const ProtobufCMessage *message)
{
    if (message == NULL) {
        (void)fputs("null", writer->out);
        return;
    }
    if (message->descriptor == &google__protobuf__timestamp__descriptor) {
        write_timestamp(writer, message);
        return;
    }
    const char *comma = "";
    (void)fputc('{', writer->out);
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        if (is_wanted(writer, message, field)) {
            (void)fputs(comma, writer->out);
            write_name(writer, field->name);
            write_field(writer, message, field);
            comma = ",";
        }
    }
    (void)fputc('}', writer->out);
}

char *pbjson_write(const ProtobufCMessage *message, enum pbjson_fields fields)
{
    char *text = NULL;
    size_t size;
    struct writer writer = {.out = open_memstream(&text, &size), .fields = fields};
    if (writer.out == NULL) {
        return NULL;
    }
    write_message(&writer, message);
    (void)fclose(writer.out);
    return text;
}
