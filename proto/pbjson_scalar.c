// SPDX-License-Identifier: Apache-2.0
#include "proto/pbjson_scalar.h"

#include "proto/alloc.h"
#include "proto/base64.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

const char *pbjson_scalar_kind(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
        return "null";
    }
    return "nothing";
}

size_t pbjson_scalar_size(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_ENUM:
        return 4;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_STRING:
        return sizeof(char *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(ProtobufCMessage *);
    }
    return 0;
}

static bool mismatch(struct error *err, const char *expected, const json_t *value)
{
    return error_set(err, ERROR_INVALID_ARGUMENT, "%s is expected, found %s", expected,
                     pbjson_scalar_kind(value));
}

/* A whole number of either sign, wider than any type. */
struct whole {
    bool negative;
    uint64_t magnitude;
};

static bool whole_of_real(double real, struct whole *whole)
{
    /* 2^64 is the first double that does not fit. */
    if (!(fabs(real) < 18446744073709551616.0) || real != trunc(real)) {
        return false;
    }
    *whole = (struct whole){.negative = real < 0, .magnitude = (uint64_t)fabs(real)};
    return true;
}

/* strtod and strtoull take more than JSON numbers: blanks, hexadecimal, names. */
static bool is_number(const char *text)
{
    return text[0] != '\0' && text[0] != '+' && text[strspn(text, "-+.0123456789eE")] == '\0';
}

static bool whole_of_text(const char *text, struct whole *whole)
{
    if (!is_number(text)) {
        return false;
    }
    char *end;
    errno = 0;
    whole->negative = text[0] == '-';
    const char *digits = text + (whole->negative ? 1 : 0);
    if (digits[0] == '-' || digits[0] == '+') {
        return false;
    }
    whole->magnitude = strtoull(digits, &end, 10);
    if (*end == '\0' && end != digits) {
        return errno == 0;
    }
    double real = strtod(text, &end);
    return *end == '\0' && whole_of_real(real, whole);
}

static bool whole_of(const json_t *value, struct whole *whole, struct error *err)
{
    if (json_is_integer(value)) {
        json_int_t integer = json_integer_value(value);
        whole->negative = integer < 0;
        whole->magnitude = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
        return true;
    }
    if (json_is_real(value)) {
        return whole_of_real(json_real_value(value), whole) ||
               error_set(err, ERROR_INVALID_ARGUMENT, "a whole number is expected, found %g",
                         json_real_value(value));
    }
    if (json_is_string(value)) {
        return whole_of_text(json_string_value(value), whole) ||
               error_set(err, ERROR_INVALID_ARGUMENT, "a whole number is expected, found \"%.64s\"",
                         json_string_value(value));
    }
    return mismatch(err, "a number", value);
}

static bool read_signed(const json_t *value, int64_t min, int64_t max, int64_t *number_out,
                        struct error *err)
{
    struct whole whole = {.magnitude = 0};
    if (!whole_of(value, &whole, err)) {
        return false;
    }
    uint64_t limit = whole.negative ? 0 - (uint64_t)min : (uint64_t)max;
    if (whole.magnitude > limit) {
        return error_set(err, ERROR_INVALID_ARGUMENT, "the number is out of range %lld to %lld",
                         (long long)min, (long long)max);
    }
    *number_out = (int64_t)(whole.negative ? 0 - whole.magnitude : whole.magnitude);
    return true;
}

static bool read_unsigned(const json_t *value, uint64_t max, uint64_t *number_out,
                          struct error *err)
{
    struct whole whole = {.magnitude = 0};
    if (!whole_of(value, &whole, err)) {
        return false;
    }
    if ((whole.negative && whole.magnitude != 0) || whole.magnitude > max) {
        return error_set(err, ERROR_INVALID_ARGUMENT, "the number is out of range 0 to %llu",
                         (unsigned long long)max);
    }
    *number_out = whole.magnitude;
    return true;
}

static bool real_of_text(const char *text, double *real)
{
    if (strcmp(text, "NaN") == 0) {
        *real = (double)NAN;
        return true;
    }
    if (strcmp(text, "Infinity") == 0 || strcmp(text, "-Infinity") == 0) {
        *real = text[0] == '-' ? (double)-INFINITY : (double)INFINITY;
        return true;
    }
    char *end = NULL;
    *real = is_number(text) ? strtod(text, &end) : 0;
    return end != NULL && *end == '\0';
}

static bool read_double(const json_t *value, double *real_out, struct error *err)
{
    if (json_is_number(value)) {
        *real_out = json_number_value(value);
        return true;
    }
    if (!json_is_string(value)) {
        return mismatch(err, "a number", value);
    }
    return real_of_text(json_string_value(value), real_out) ||
           error_set(err, ERROR_INVALID_ARGUMENT, "a number is expected, found \"%.64s\"",
                     json_string_value(value));
}

/* It has one value, 0, and null is its JSON form. */
static bool is_null_value(const ProtobufCEnumDescriptor *descriptor)
{
    return strcmp(descriptor->name, "google.protobuf.NullValue") == 0;
}

bool pbjson_scalar_takes_null(const ProtobufCFieldDescriptor *field)
{
    return field->type == PROTOBUF_C_TYPE_ENUM && is_null_value(field->descriptor);
}

static bool read_enum(const json_t *value, const ProtobufCEnumDescriptor *descriptor,
                      int32_t *number_out, struct error *err)
{
    if (json_is_null(value) && is_null_value(descriptor)) {
        *number_out = 0;
        return true;
    }
    if (json_is_string(value)) {
        const char *name = json_string_value(value);
        const ProtobufCEnumValue *found =
            protobuf_c_enum_descriptor_get_value_by_name(descriptor, name);
        if (found == NULL) {
            return error_set(err, ERROR_INVALID_ARGUMENT, "\"%.64s\" is no value of %s", name,
                             descriptor->name);
        }
        *number_out = found->value;
        return true;
    }
    int64_t number = 0;
    if (!read_signed(value, INT32_MIN, INT32_MAX, &number, err)) {
        return false;
    }
    *number_out = (int32_t)number;
    return true;
}

static bool read_string(const json_t *value, ProtobufCAllocator *allocator, char **text_out,
                        struct error *err)
{
    if (!json_is_string(value)) {
        return mismatch(err, "a string", value);
    }
    size_t len = json_string_length(value);
    char *text = alloc_zeroed(allocator, len + 1);
    memcpy(text, json_string_value(value), len);
    *text_out = text;
    return true;
}

static bool read_bytes(const json_t *value, ProtobufCAllocator *allocator,
                       ProtobufCBinaryData *bytes_out, struct error *err)
{
    if (!json_is_string(value)) {
        return mismatch(err, "a base64 string", value);
    }
    struct slice text = slice_of(json_string_value(value), json_string_length(value));
    bytes_out->data = alloc_zeroed(allocator, base64_bound(text.len));
    return base64_decode(text, bytes_out->data, &bytes_out->len) ||
           error_set(err, ERROR_INVALID_ARGUMENT, "base64 is expected, found \"%.64s\"",
                     json_string_value(value));
}

static bool read_integer(const json_t *value, ProtobufCType type, void *member, struct error *err)
{
    int64_t number = 0;
    uint64_t natural = 0;
    bool ok;
    if (type == PROTOBUF_C_TYPE_UINT32 || type == PROTOBUF_C_TYPE_FIXED32) {
        ok = read_unsigned(value, UINT32_MAX, &natural, err);
    } else if (type == PROTOBUF_C_TYPE_UINT64 || type == PROTOBUF_C_TYPE_FIXED64) {
        ok = read_unsigned(value, UINT64_MAX, &natural, err);
    } else if (pbjson_scalar_size(type) == 4) {
        ok = read_signed(value, INT32_MIN, INT32_MAX, &number, err);
        natural = (uint64_t)number;
    } else {
        ok = read_signed(value, INT64_MIN, INT64_MAX, &number, err);
        natural = (uint64_t)number;
    }
    uint32_t half = (uint32_t)natural;
    if (pbjson_scalar_size(type) == 4) {
        memcpy(member, &half, sizeof half);
    } else {
        memcpy(member, &natural, sizeof natural);
    }
    return ok;
}

static bool read_bool(const json_t *value, protobuf_c_boolean *member, struct error *err)
{
    if (!json_is_boolean(value)) {
        return mismatch(err, "a boolean", value);
    }
    *member = json_is_true(value);
    return true;
}

static bool read_real(const json_t *value, ProtobufCType type, void *member, struct error *err)
{
    double real = 0;
    if (!read_double(value, &real, err)) {
        return false;
    }
    if (type == PROTOBUF_C_TYPE_DOUBLE) {
        memcpy(member, &real, sizeof real);
    } else {
        float single = (float)real;
        memcpy(member, &single, sizeof single);
    }
    return true;
}

bool pbjson_scalar_read(const json_t *value, const ProtobufCFieldDescriptor *field,
                        ProtobufCAllocator *allocator, void *member, struct error *err)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_BOOL:
        return read_bool(value, member, err);
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_DOUBLE:
        return read_real(value, field->type, member, err);
    case PROTOBUF_C_TYPE_ENUM:
        return read_enum(value, field->descriptor, member, err);
    case PROTOBUF_C_TYPE_STRING:
        return read_string(value, allocator, member, err);
    case PROTOBUF_C_TYPE_BYTES:
        return read_bytes(value, allocator, member, err);
    case PROTOBUF_C_TYPE_MESSAGE:
        return mismatch(err, "a scalar", value);
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return read_integer(value, field->type, member, err);
    }
    return mismatch(err, "a known type", value);
}
