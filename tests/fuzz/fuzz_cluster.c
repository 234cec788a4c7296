// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as what is said of the cluster; the first byte picks which: a discovery file, a page of
 * schemas, an event, or what a node says of itself. A file is refused with a text, or each of its
 * entries has an address, once; objects go into a catalog.
 */
#include "liaison/cluster/discovery_file.h"
#include "proto/catalog.h"
#include "proto/catalog_store.h"
#include "proto/database.pb-c.h"
#include "proto/message_read.h"
#include "proto/schema.pb-c.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void read_file(struct slice yaml)
{
    struct discovery_file file;
    struct error err = {.code = ERROR_NONE};
    if (!discovery_file_parse(&file, yaml, &err)) {
        assert(err.code != ERROR_NONE && err.text[0] != '\0' && file.count == 0);
        return;
    }
    for (size_t i = 0; i < file.count; i++) {
        assert(file.entries[i].address[0] != '\0');
        for (size_t k = 0; k < i; k++) {
            assert(strcmp(file.entries[i].address, file.entries[k].address) != 0);
        }
    }
    discovery_file_fini(&file);
}

static void put(struct catalog_store *store, const Banyandb__Property__V1__Property *property,
                int64_t delete_time)
{
    struct error err;
    if (delete_time != 0) {
        (void)catalog_store_delete(store, property, delete_time);
    } else {
        (void)catalog_store_put(store, property, &err);
    }
}

static void read_page(struct slice bytes)
{
    struct error err = {.code = ERROR_NONE};
    Banyandb__Schema__V1__ListSchemasResponse *page =
        (Banyandb__Schema__V1__ListSchemasResponse *)message_read(
            bytes, &banyandb__schema__v1__list_schemas_response__descriptor, &err);
    if (page == NULL) {
        assert(err.code != ERROR_NONE && err.text[0] != '\0');
        return;
    }
    struct catalog_store *store = catalog_store_new();
    for (size_t i = 0; i < page->n_properties; i++) {
        put(store, page->properties[i], i < page->n_delete_times ? page->delete_times[i] : 0);
    }
    struct catalog *catalog = catalog_snapshot(store);
    catalog_release(&catalog);
    catalog_store_free(&store);
    banyandb__schema__v1__list_schemas_response__free_unpacked(page, NULL);
}

static void read_event(struct slice bytes)
{
    Banyandb__Schema__V1__WatchSchemasResponse *event =
        (Banyandb__Schema__V1__WatchSchemasResponse *)message_read(
            bytes, &banyandb__schema__v1__watch_schemas_response__descriptor, NULL);
    if (event == NULL) {
        return;
    }
    if (event->property != NULL) {
        struct catalog_store *store = catalog_store_new();
        put(store, event->property, 0);
        put(store, event->property, event->delete_time);
        catalog_store_free(&store);
    }
    banyandb__schema__v1__watch_schemas_response__free_unpacked(event, NULL);
}

static void read_node(struct slice bytes)
{
    ProtobufCMessage *answer =
        message_read(bytes, &banyandb__database__v1__get_current_node_response__descriptor, NULL);
    protobuf_c_message_free_unpacked(answer, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static void (*const readers[])(struct slice bytes) = {read_file, read_page, read_event,
                                                          read_node};
    if (len == 0) {
        return 0;
    }
    uint8_t *copy = malloc(len); /* so that reading beyond it is seen */
    assert(copy != NULL);
    memcpy(copy, bytes, len);
    readers[bytes[0] % 4](slice_of(copy + 1, len - 1));
    free(copy);
    return 0;
}
