// SPDX-License-Identifier: Apache-2.0
#include "proto/catalog_object.h"

#include "proto/alloc.h"
#include "proto/catalog_valid.h"
#include "proto/message_size.h"
#include "proto/pbjson.h"

#include <stdlib.h>

#define SOURCE_LIMIT                                                                               \
    1048576u /* bytes; a measure of 1,000 tags has 60 KB, its JSON tree 50 times that */

static const ProtobufCMessageDescriptor *const descriptors[SCHEMA_KINDS] = {
    [SCHEMA_GROUP] = &banyandb__common__v1__group__descriptor,
    [SCHEMA_MEASURE] = &banyandb__database__v1__measure__descriptor,
    [SCHEMA_INDEX_RULE] = &banyandb__database__v1__index_rule__descriptor,
    [SCHEMA_INDEX_RULE_BINDING] = &banyandb__database__v1__index_rule_binding__descriptor,
    [SCHEMA_TOPN] = &banyandb__database__v1__top_naggregation__descriptor,
};

static char *put_text(char **at, struct slice text)
{
    char *start = *at;
    if (text.len > 0) {
        memcpy(start, text.ptr, text.len);
    }
    *at = start + text.len + 1;
    return start;
}

struct catalog_object *catalog_object_tombstone(const Banyandb__Property__V1__Property *property,
                                                const struct catalog_tags *tags)
{
    struct slice id = slice_str(property->id);
    size_t texts = id.len + tags->group.len + tags->name.len + 3;
    struct catalog_object *object = alloc_zeroed(NULL, sizeof *object + texts);
    char *at = (char *)(object + 1);
    atomic_init(&object->count, 1);
    object->bytes = message_size_chunk(sizeof *object + texts);
    object->updated_at = tags->updated_at;
    object->id = put_text(&at, id);
    object->group = slice_of(put_text(&at, tags->group), tags->group.len);
    object->name = slice_of(put_text(&at, tags->name), tags->name.len);
    return object;
}

/* Every schema object begins with its metadata. */
static Banyandb__Common__V1__Metadata **metadata_of(ProtobufCMessage *message)
{
    const ProtobufCFieldDescriptor *field = &message->descriptor->fields[0];
    return (Banyandb__Common__V1__Metadata **)(void *)((uint8_t *)message + field->offset);
}

/* The source has to be the object that the tags speak of. */
static bool check_identity(const Banyandb__Common__V1__Metadata *metadata,
                           const struct catalog_tags *tags, struct error *err)
{
    if (metadata == NULL) {
        return error_set(err, ERROR_INVALID_ARGUMENT, "metadata is missing");
    }
    if (slice_equal(slice_str(metadata->group), tags->group) &&
        slice_equal(slice_str(metadata->name), tags->name)) {
        return true;
    }
    return error_set(err, ERROR_INVALID_ARGUMENT,
                     "the source is of %.200s/%.200s, the tags are of %.*s/%.*s", metadata->group,
                     metadata->name, SLICE_ARG(tags->group), SLICE_ARG(tags->name));
}

static bool parse_source(const Banyandb__Property__V1__Property *property,
                         const struct catalog_tags *tags, ProtobufCMessage **message_out,
                         struct error *err)
{
    if (tags->source.ptr == NULL) {
        return error_set(err, ERROR_INVALID_ARGUMENT, "there is no source tag");
    }
    if (tags->source.len > SOURCE_LIMIT) {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "the source has %zu bytes, at most %u are read", tags->source.len,
                         SOURCE_LIMIT);
    }
    if (!pbjson_read(tags->source, descriptors[tags->kind], NULL, message_out, err)) {
        return false;
    }
    Banyandb__Common__V1__Metadata *metadata = *metadata_of(*message_out);
    if (!check_identity(metadata, tags, err) || !catalog_valid(tags->kind, *message_out, err)) {
        return false;
    }
    /* The JSON carries a revision too; upstream overwrites it with the property's. */
    metadata->mod_revision = property->metadata == NULL ? 0 : property->metadata->mod_revision;
    return true;
}

struct catalog_object *catalog_object_parse(const Banyandb__Property__V1__Property *property,
                                            const struct catalog_tags *tags, struct error *err)
{
    ProtobufCMessage *message = NULL;
    if (!parse_source(property, tags, &message, err)) {
        protobuf_c_message_free_unpacked(message, NULL);
        error_prefix(err, "property %.200s", property->id);
        return NULL;
    }
    struct catalog_object *object = catalog_object_tombstone(property, tags);
    object->message = message;
    object->bytes += message_size(message);
    return object;
}

struct catalog_object *catalog_object_retain(struct catalog_object *object)
{
    atomic_fetch_add_explicit(&object->count, 1, memory_order_relaxed);
    return object;
}

void catalog_object_release(struct catalog_object **object)
{
    struct catalog_object *last = *object;
    *object = NULL;
    if (last == NULL || atomic_fetch_sub_explicit(&last->count, 1, memory_order_acq_rel) > 1) {
        return;
    }
    protobuf_c_message_free_unpacked(last->message, NULL);
    free(last);
}
