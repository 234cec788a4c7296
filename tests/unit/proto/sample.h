// SPDX-License-Identifier: Apache-2.0
/* Schema objects, catalogs and requests for tests, written as JSON. */
#pragma once

#include "merge/arena.h"
#include "proto/catalog.h"

struct sample_object {
    const char *kind;   /* as the registry spells it */
    const char *source; /* JSON; its metadata names group, name and modRevision */
    int64_t updated_at; /* 0 = 1 */
};

/* The object as the registry sends it; its tags are made of the source's metadata and times.
 * Call sample_property_free. */
Banyandb__Property__V1__Property *sample_property(const struct sample_object *object);
void sample_property_free(Banyandb__Property__V1__Property **property);

/* Every object has to be taken. */
void sample_put(struct catalog_store *store, const struct sample_object *objects, size_t count);
struct catalog *sample_catalog(const struct sample_object *objects, size_t count);

/* The catalog that the request tests ask: see sample.c for its groups. */
struct catalog *sample_world(void);

/* Bytes of a message given as JSON, in the region. */
struct slice sample_bytes(const char *json, const ProtobufCMessageDescriptor *descriptor,
                          struct arena *arena);
struct slice sample_request(const char *json, struct arena *arena);

/* The whole file, NUL behind it; NULL = it is not there. Call free. */
uint8_t *sample_file(const char *path, size_t *len_out);
