// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as the source of a schema object; the first byte picks the kind. The object is refused
 * with a text, or it is taken and can be packed.
 */
#include "proto/catalog.h"
#include "tests/unit/proto/sample.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const char *const kinds[] = {"group", "measure", "indexRule", "indexRuleBinding",
                                    "topNAggregation"};

/* The metadata that the source has to have; the group's own is empty. */
static const char *const bodies[] = {
    "{\"metadata\":{\"name\":\"m\"}}",
    "{\"metadata\":{\"group\":\"g\",\"name\":\"m\"}}",
};

static void pack(const struct catalog *catalog, enum schema_kind kind)
{
    for (size_t i = 0; i < catalog_count(catalog, kind); i++) {
        const ProtobufCMessage *message = catalog_at(catalog, kind, i);
        uint8_t *packed = malloc(protobuf_c_message_get_packed_size(message) + 1);
        assert(packed != NULL);
        protobuf_c_message_pack(message, packed);
        free(packed);
    }
}

static void put(const Banyandb__Property__V1__Property *property, enum schema_kind kind)
{
    struct error err = {.code = ERROR_NONE};
    struct catalog_store *store = catalog_store_new();
    if (catalog_store_put(store, property, &err) == CATALOG_BAD) {
        assert(err.code == ERROR_INVALID_ARGUMENT && err.text[0] != '\0');
    }
    struct catalog *catalog = catalog_snapshot(store);
    pack(catalog, kind);
    catalog_release(&catalog);
    catalog_store_free(&store);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len == 0) {
        return 0;
    }
    size_t kind = bytes[0] % (sizeof kinds / sizeof *kinds);
    struct sample_object object = {kinds[kind], bodies[kind == 0 ? 0 : 1], 1};
    Banyandb__Property__V1__Property *property = sample_property(&object);
    char *source = strndup((const char *)bytes + 1, len - 1);
    assert(source != NULL);
    free(property->tags[2]->value->str->value);
    property->tags[2]->value->str->value = source;
    put(property, (enum schema_kind)kind);
    sample_property_free(&property);
    return 0;
}
