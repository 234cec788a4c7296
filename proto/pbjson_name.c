// SPDX-License-Identifier: Apache-2.0
#include "proto/pbjson_name.h"

#include <string.h>

static int upper(char c)
{
    return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

/* "tag_families" in camel case equals "tagFamilies"; `first_upper` for "TagFamilies". Returns what
 * follows in `text`, NULL when it differs. */
static const char *match_camel(const char *name, const char *text, bool first_upper)
{
    bool raise = first_upper;
    for (; *name != '\0'; name++) {
        if (*name == '_') {
            raise = true;
            continue;
        }
        if (*text++ != (raise ? upper(*name) : *name)) {
            return NULL;
        }
        raise = false;
    }
    return text;
}

static bool is_called(const ProtobufCFieldDescriptor *field, const char *key)
{
    const char *rest = match_camel(field->name, key, false);
    return (rest != NULL && *rest == '\0') || strcmp(field->name, key) == 0;
}

const ProtobufCFieldDescriptor *pbjson_name_field(const ProtobufCMessageDescriptor *descriptor,
                                                  const char *key)
{
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        if (is_called(&descriptor->fields[i], key)) {
            return &descriptor->fields[i];
        }
    }
    return NULL;
}

bool pbjson_name_is_map(const ProtobufCFieldDescriptor *field)
{
    if (field->label != PROTOBUF_C_LABEL_REPEATED || field->type != PROTOBUF_C_TYPE_MESSAGE) {
        return false;
    }
    const ProtobufCMessageDescriptor *entry = field->descriptor;
    const char *rest = match_camel(field->name, entry->short_name, true);
    return rest != NULL && strcmp(rest, "Entry") == 0 && entry->n_fields == 2 &&
           strcmp(entry->fields[0].name, "key") == 0 && strcmp(entry->fields[1].name, "value") == 0;
}
