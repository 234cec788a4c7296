// SPDX-License-Identifier: Apache-2.0
/* nghttp2 reads names and values only, but declares them writable: hence the memcpy of pointers. */
#include "liaison/http2/fields.h"

void fields_add(struct fields *fields, struct slice name, struct slice value)
{
    if (fields->len == FIELDS_MAX) {
        return;
    }
    nghttp2_nv *field = &fields->list[fields->len++];
    *field = (nghttp2_nv){.namelen = name.len, .valuelen = value.len};
    memcpy(&field->name, &name.ptr, sizeof name.ptr);
    memcpy(&field->value, &value.ptr, sizeof value.ptr);
}

void fields_add_text(struct fields *fields, const char *name, const char *value)
{
    fields_add(fields, slice_str(name), slice_str(value));
}

void fields_add_headers(struct fields *fields, const struct headers *headers)
{
    struct headers_field field;
    for (size_t at = 0; headers_next(headers, &at, &field);) {
        fields_add(fields, field.name, field.value);
    }
}
