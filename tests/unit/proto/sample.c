// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/proto/sample.h"

#include "proto/alloc.h"
#include "proto/measure.pb-c.h"
#include "proto/pbjson.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static Banyandb__Model__V1__Tag *new_tag(const char *key)
{
    Banyandb__Model__V1__Tag *tag = alloc_zeroed(NULL, sizeof *tag);
    banyandb__model__v1__tag__init(tag);
    tag->key = strdup(key);
    tag->value = alloc_zeroed(NULL, sizeof *tag->value);
    banyandb__model__v1__tag_value__init(tag->value);
    return tag;
}

static Banyandb__Model__V1__Tag *text_tag(const char *key, const char *text)
{
    Banyandb__Model__V1__Tag *tag = new_tag(key);
    tag->value->value_case = BANYANDB__MODEL__V1__TAG_VALUE__VALUE_STR;
    tag->value->str = alloc_zeroed(NULL, sizeof *tag->value->str);
    banyandb__model__v1__str__init(tag->value->str);
    tag->value->str->value = strdup(text);
    return tag;
}

static Banyandb__Model__V1__Tag *int_tag(const char *key, int64_t number)
{
    Banyandb__Model__V1__Tag *tag = new_tag(key);
    tag->value->value_case = BANYANDB__MODEL__V1__TAG_VALUE__VALUE_INT;
    tag->value->int_ = alloc_zeroed(NULL, sizeof *tag->value->int_);
    banyandb__model__v1__int__init(tag->value->int_);
    tag->value->int_->value = number;
    return tag;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

static char *id_of(const char *kind, const char *group, const char *name)
{
    char *id = NULL;
    int len = group[0] == '\0' ? asprintf(&id, "%s_%s", kind, name)
                               : asprintf(&id, "%s_%s/%s", kind, group, name);
    assert(len > 0);
    return id;
}

Banyandb__Property__V1__Property *sample_property(const struct sample_object *object)
{
    json_t *tree = json_loads(object->source, 0, NULL);
    assert(tree != NULL);
    const json_t *metadata = json_object_get(tree, "metadata");
    const char *group = text_of(metadata, "group");
    const char *name = text_of(metadata, "name");
    Banyandb__Property__V1__Property *property = alloc_zeroed(NULL, sizeof *property);
    banyandb__property__v1__property__init(property);
    property->id = id_of(object->kind, group, name);
    property->metadata = alloc_zeroed(NULL, sizeof *property->metadata);
    banyandb__common__v1__metadata__init(property->metadata);
    property->metadata->name = strdup(object->kind);
    property->metadata->mod_revision = strtoll(text_of(metadata, "modRevision"), NULL, 10);
    property->n_tags = 5;
    property->tags = alloc_zeroed(NULL, property->n_tags * sizeof(*property->tags));
    property->tags[0] = text_tag("group", group);
    property->tags[1] = text_tag("name", name);
    property->tags[2] = text_tag("source", object->source);
    property->tags[3] = text_tag("kind", object->kind);
    property->tags[4] = int_tag("updated_at", object->updated_at == 0 ? 1 : object->updated_at);
    json_decref(tree);
    return property;
}

void sample_property_free(Banyandb__Property__V1__Property **property)
{
    banyandb__property__v1__property__free_unpacked(*property, NULL);
    *property = NULL;
}

void sample_put(struct catalog_store *store, const struct sample_object *objects, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct error err = {0};
        Banyandb__Property__V1__Property *property = sample_property(&objects[i]);
        enum catalog_change change = catalog_store_put(store, property, &err);
        sample_property_free(&property);
        if (change != CATALOG_CHANGED) {
            fprintf(stderr, "object %zu: %s\n", i, err.text);
            abort();
        }
    }
}

struct catalog *sample_catalog(const struct sample_object *objects, size_t count)
{
    struct catalog_store *store = catalog_store_new();
    sample_put(store, objects, count);
    struct catalog *catalog = catalog_snapshot(store);
    catalog_store_free(&store);
    return catalog;
}

#define OPTIONS                                                                                    \
    "\"shardNum\":2,\"segmentInterval\":{\"unit\":\"UNIT_DAY\",\"num\":1},"                        \
    "\"ttl\":{\"unit\":\"UNIT_DAY\",\"num\":7}"
#define GROUP(name, more)                                                                          \
    {                                                                                              \
        "group",                                                                                   \
            "{\"metadata\":{\"name\":\"" name "\",\"modRevision\":\"5\"},"                         \
            "\"catalog\":\"CATALOG_MEASURE\",\"resourceOpts\":{" OPTIONS more "}}",                \
            0                                                                                      \
    }
#define MEASURE(group, name, families, fields, more)                                               \
    {                                                                                              \
        "measure",                                                                                 \
            "{\"metadata\":{\"group\":\"" group "\",\"name\":\"" name                              \
            "\",\"modRevision\":\"100\"},"                                                         \
            "\"tagFamilies\":[" families "],\"fields\":[" fields "],"                              \
            "\"entity\":{\"tagNames\":[\"svc\"]}" more "}",                                        \
            0                                                                                      \
    }
#define FAMILY(name, tags)    "{\"name\":\"" name "\",\"tags\":[" tags "]}"
#define TAG(name)             TYPED_TAG(name, "STRING")
#define TYPED_TAG(name, type) "{\"name\":\"" name "\",\"type\":\"TAG_TYPE_" type "\"}"
#define FIELD(name)           TYPED_FIELD(name, "INT")
#define TYPED_FIELD(name, type)                                                                    \
    "{\"name\":\"" name "\",\"fieldType\":\"FIELD_TYPE_" type "\","                                \
    "\"encodingMethod\":\"ENCODING_METHOD_GORILLA\","                                              \
    "\"compressionMethod\":\"COMPRESSION_METHOD_ZSTD\"}"
#define RULE(group, name, tags, more)                                                              \
    {                                                                                              \
        "indexRule",                                                                               \
            "{\"metadata\":{\"group\":\"" group "\",\"name\":\"" name "\",\"id\":1},"              \
            "\"tags\":[" tags "],\"type\":\"TYPE_INVERTED\"" more "}",                             \
            0                                                                                      \
    }
#define BINDING(group, name, rules)                                                                \
    {                                                                                              \
        "indexRuleBinding",                                                                        \
            "{\"metadata\":{\"group\":\"" group "\",\"name\":\"" name "\"},\"rules\":[" rules "]," \
            "\"subject\":{\"catalog\":\"CATALOG_MEASURE\",\"name\":\"m\"},"                        \
            "\"beginAt\":\"2020-01-01T00:00:00Z\",\"expireAt\":\"2020-01-02T00:00:00Z\"}",         \
            0                                                                                      \
    }

/*
 * g1, g2   measure m; svc in both, env and w only in g1, zone only in g2; rules on some tags
 * staged   measure m; stages hot and warm, warm is the default
 * bare     measure m; stages, but no default
 * index    measure m in index mode; g1 and index share it by name
 * mixed    measure m; v is a float, text a string field, at a timestamp tag, names an array
 * rest     no measure m
 */
static const struct sample_object world[] = {
    GROUP("g1", ""),
    GROUP("g2", ""),
    GROUP("staged", ",\"defaultStages\":[\"warm\"],\"stages\":["
                    "{\"name\":\"hot\",\"nodeSelector\":\" type=hot \"},"
                    "{\"name\":\"warm\",\"nodeSelector\":\"  \"},"
                    "{\"name\":\"WARM\",\"nodeSelector\":\"type=warm\"}]"),
    GROUP("bare", ",\"stages\":[{\"name\":\"cold\",\"nodeSelector\":\"type=cold\"}]"),
    GROUP("index", ""),
    GROUP("mixed", ""),
    GROUP("rest", ""),
    MEASURE("g1", "m",
            FAMILY("default", TAG("svc") "," TAG("env")) "," FAMILY("other",
                                                                    TAG("rank") "," TAG("env")),
            FIELD("v") "," FIELD("w"), ",\"createdAt\":\"2026-11-30T10:00:00.000000005Z\""),
    MEASURE("g2", "m", FAMILY("default", TAG("svc") "," TAG("zone")), FIELD("v"),
            ",\"createdAt\":\"2026-11-30T11:00:00.250Z\""),
    MEASURE("staged", "m", FAMILY("default", TAG("svc")), FIELD("v"), ""),
    MEASURE("bare", "m", FAMILY("default", TAG("svc")), FIELD("v"), ""),
    MEASURE("index", "m", FAMILY("default", TAG("svc")), "", ",\"indexMode\":true"),
    MEASURE("mixed", "m",
            FAMILY("default", TAG("svc") "," TYPED_TAG("at", "TIMESTAMP") "," TYPED_TAG(
                                  "names", "STRING_ARRAY")),
            TYPED_FIELD("v", "FLOAT") "," TYPED_FIELD("text", "STRING"), ""),
    MEASURE("rest", "n", FAMILY("default", TAG("svc")), FIELD("v"), ""),
    RULE("g1", "by-rank", "\"rank\"", ""),
    RULE("g1", "by-env", "\"env\"", ""),
    RULE("g1", "two-tags", "\"svc\",\"env\"", ""),
    RULE("g1", "unsorted", "\"env\"", ",\"noSort\":true"),
    RULE("g1", "gone", "\"nope\"", ""),
    RULE("g1", "unbound", "\"env\"", ""),
    RULE("g2", "by-zone", "\"zone\"", ""),
    RULE("g2", "two-tags", "\"zone\"", ""),
    RULE("index", "by-svc", "\"svc\"", ""),
    BINDING("g1", "b1", "\"missing\",\"by-rank\",\"by-env\""),
    BINDING("g1", "b2", "\"two-tags\",\"unsorted\",\"gone\""),
    BINDING("g2", "b", "\"by-zone\",\"two-tags\""),
    BINDING("index", "b", "\"by-svc\""),
};

struct catalog *sample_world(void)
{
    return sample_catalog(world, sizeof world / sizeof *world);
}

struct slice sample_bytes(const char *json, const ProtobufCMessageDescriptor *descriptor,
                          struct arena *arena)
{
    ProtobufCMessage *message = NULL;
    struct error err = {0};
    if (!pbjson_read(slice_str(json), descriptor, NULL, &message, &err)) {
        fprintf(stderr, "%s: %s\n", json, err.text);
        abort();
    }
    size_t len = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = arena_zalloc(arena, len + 16, 1);
    protobuf_c_message_pack(message, bytes);
    protobuf_c_message_free_unpacked(message, NULL);
    return slice_of(bytes, len);
}

struct slice sample_request(const char *json, struct arena *arena)
{
    return sample_bytes(json, &banyandb__measure__v1__query_request__descriptor, arena);
}

uint8_t *sample_file(const char *path, size_t *len_out)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    size_t len = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = calloc(1, len + 1);
    assert(bytes != NULL);
    *len_out = fread(bytes, 1, len, file);
    fclose(file);
    return bytes;
}
