// SPDX-License-Identifier: Apache-2.0
/*
 * The file of discovery mode `file`: YAML. Unknown keys are ignored, but told; a file without this
 * one is none: be it empty, as one is between being opened and being written, or with others.
 *
 *     nodes:
 *       - name: d1                          # used in texts only
 *         grpc_address: "10.1.0.11:17912"   # required
 *         tls_enabled: true                 # of the question who the node is, not of queries
 *         ca_cert_path: /etc/bydb/ca.pem    # required with TLS
 */
#pragma once

#include "frame/error.h"
#include "frame/slice.h"

struct discovery_entry {
    char *name;    /* own; "" = none */
    char *address; /* own */
    bool tls;
    char *ca_path; /* own; "" = none */
};

struct discovery_file {
    size_t count;
    struct discovery_entry *entries; /* own; in file order, each address once */
    struct error
        unknown; /* the first key of an entry that means nothing; code NONE: there is none */
};

/* False: err in the words of the Go liaison; nothing is left in the file. */
bool discovery_file_parse(struct discovery_file *file, struct slice yaml,
                          struct error *err) MUST_CHECK;
bool discovery_file_read(struct discovery_file *file, const char *path,
                         struct error *err) MUST_CHECK;
void discovery_file_fini(struct discovery_file *file);
