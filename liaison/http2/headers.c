// SPDX-License-Identifier: Apache-2.0
/* A stream has about ten fields of some 20 bytes: a linear look-up in one buffer beats any index.
 */
#include "liaison/http2/headers.h"

#include "liaison/own.h"

#include <stdlib.h>

#define START 256

void headers_init(struct headers *headers, size_t limit, struct charge *charge)
{
    *headers = (struct headers){.limit = limit, .charge = charge};
}

void headers_fini(struct headers *headers)
{
    charge_resize(headers->charge, CHARGE_WIRE, headers->capacity, 0);
    free(headers->bytes);
    headers_init(headers, headers->limit, headers->charge);
}

void headers_clear(struct headers *headers)
{
    headers->len = 0;
    headers->overflowed = false;
}

static void make_room(struct headers *headers, size_t more)
{
    size_t capacity = headers->capacity == 0 ? START : headers->capacity;
    while (capacity - headers->len < more) {
        capacity *= 2;
    }
    if (capacity == headers->capacity) {
        return;
    }
    headers->bytes = own_checked(realloc(headers->bytes, capacity));
    charge_resize(headers->charge, CHARGE_WIRE, headers->capacity, capacity);
    headers->capacity = capacity;
}

static void put(struct headers *headers, const void *ptr, size_t len)
{
    if (len > 0) {
        memcpy(headers->bytes + headers->len, ptr, len);
        headers->len += len;
    }
}

void headers_add(struct headers *headers, struct slice name, struct slice value)
{
    const uint32_t lengths[2] = {(uint32_t)name.len, (uint32_t)value.len};
    if (sizeof lengths + name.len + value.len > headers->limit - headers->len) {
        headers->overflowed = true;
        return;
    }
    make_room(headers, sizeof lengths + name.len + value.len);
    put(headers, lengths, sizeof lengths);
    put(headers, name.ptr, name.len);
    put(headers, value.ptr, value.len);
}

bool headers_next(const struct headers *headers, size_t *at, struct headers_field *field_out)
{
    if (*at == headers->len) {
        return false;
    }
    uint32_t lengths[2];
    const uint8_t *field = headers->bytes + *at;
    memcpy(lengths, field, sizeof lengths);
    field += sizeof lengths;
    field_out->name = slice_of(field, lengths[0]);
    field_out->value = slice_of(field + lengths[0], lengths[1]);
    *at += sizeof lengths + lengths[0] + lengths[1];
    return true;
}

struct slice headers_get(const struct headers *headers, const char *name)
{
    const struct slice wanted = slice_str(name);
    struct headers_field field;
    for (size_t at = 0; headers_next(headers, &at, &field);) {
        if (slice_equal(field.name, wanted)) {
            return field.value;
        }
    }
    return slice_of(NULL, 0);
}
