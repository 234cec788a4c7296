// SPDX-License-Identifier: Apache-2.0
/* libyaml makes a tree of nodes; only the few places that matter are looked at. */
#include "liaison/cluster/discovery_file.h"

#include "liaison/own.h"

#include <yaml.h>

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_FILE_BYTES ((size_t)16 << 20)

/* The value of a key in a mapping, or NULL. */
static yaml_node_t *value_of(yaml_document_t *document, const yaml_node_t *mapping, const char *key)
{
    if (mapping->type != YAML_MAPPING_NODE) {
        return NULL;
    }
    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        const yaml_node_t *name = yaml_document_get_node(document, pair->key);
        if (name->type == YAML_SCALAR_NODE &&
            strcmp((const char *)name->data.scalar.value, key) == 0) {
            return yaml_document_get_node(document, pair->value);
        }
    }
    return NULL;
}

#define ENTRY_KEYS "name, grpc_address, tls_enabled and ca_cert_path"

static bool is_entry_key(const char *key)
{
    static const char *const known[] = {"name", "grpc_address", "tls_enabled", "ca_cert_path"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(key, known[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* The first key of an entry that means nothing to us, or NULL. */
static const yaml_node_t *unknown_key(yaml_document_t *document, const yaml_node_t *mapping)
{
    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        const yaml_node_t *name = yaml_document_get_node(document, pair->key);
        if (name->type == YAML_SCALAR_NODE &&
            !is_entry_key((const char *)name->data.scalar.value)) {
            return name;
        }
    }
    return NULL;
}

static bool is_null(const yaml_node_t *node)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    if (node == NULL) {
        return true;
    }
    if (node->type != YAML_SCALAR_NODE || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
        return false;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp((const char *)node->data.scalar.value, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool wrong_type(const yaml_node_t *node, const char *key, const char *expected,
                       struct error *err)
{
    return error_set(err, ERROR_INVALID_ARGUMENT, "failed to parse YAML: line %zu: %s is not %s",
                     node->start_mark.line + 1, key, expected);
}

/* Keys, but not the one that lists: whatever it is, it does not say that there are no nodes. */
static bool no_list(yaml_document_t *document, const yaml_node_t *root, struct error *err)
{
    const yaml_node_pair_t *first = root->data.mapping.pairs.start;
    if (first == root->data.mapping.pairs.top) {
        return true;
    }
    const yaml_node_t *name = yaml_document_get_node(document, first->key);
    return error_set(err, ERROR_INVALID_ARGUMENT,
                     "failed to parse YAML: line %zu: key %.100s found, expected nodes, with a "
                     "list of entries with " ENTRY_KEYS,
                     name->start_mark.line + 1,
                     name->type == YAML_SCALAR_NODE ? (const char *)name->data.scalar.value : "?");
}

static bool read_text(yaml_document_t *document, const yaml_node_t *mapping, const char *key,
                      char **text_out, struct error *err)
{
    const yaml_node_t *node = value_of(document, mapping, key);
    if (is_null(node)) {
        *text_out = own_text("");
        return true;
    }
    if (node->type != YAML_SCALAR_NODE) {
        return wrong_type(node, key, "a string", err);
    }
    *text_out = own_text((const char *)node->data.scalar.value);
    return true;
}

static bool read_bool(yaml_document_t *document, const yaml_node_t *mapping, const char *key,
                      bool *value_out, struct error *err)
{
    static const char *const words[] = {"false", "no", "off", "true", "yes", "on"};
    const yaml_node_t *node = value_of(document, mapping, key);
    *value_out = false;
    if (is_null(node)) {
        return true;
    }
    for (size_t i = 0; node->type == YAML_SCALAR_NODE && i < 6; i++) {
        if (strcasecmp((const char *)node->data.scalar.value, words[i]) == 0) {
            *value_out = i >= 3;
            return true;
        }
    }
    return wrong_type(node, key, "true or false", err);
}

static void entry_fini(struct discovery_entry *entry)
{
    free(entry->name);
    free(entry->address);
    free(entry->ca_path);
}

static bool check_entry(const struct discovery_entry *entry, size_t index, struct error *err)
{
    assert(entry->address != NULL && entry->ca_path != NULL);
    if (entry->address[0] == '\0') {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "node %s at index %zu is missing required field: grpc_address",
                         entry->name, index);
    }
    if (entry->tls && entry->ca_path[0] == '\0') {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "node %s at index %zu has TLS enabled but missing ca_cert_path",
                         entry->name, index);
    }
    return true;
}

/* One slip in a required key is two faults: the one that lacks and the one that means nothing. */
static void note_unknown(struct discovery_file *file, yaml_document_t *document,
                         const yaml_node_t *entry, struct error *failed)
{
    const yaml_node_t *key = unknown_key(document, entry);
    if (key == NULL) {
        return;
    }
    struct error unknown;
    error_set(&unknown, ERROR_INVALID_ARGUMENT,
              "line %zu: key %.100s found, expected " ENTRY_KEYS " only", key->start_mark.line + 1,
              (const char *)key->data.scalar.value);
    if (failed != NULL) {
        const struct error lacks = *failed;
        error_set(failed, lacks.code, "%s; %s", lacks.text, unknown.text);
    } else if (file->unknown.code == ERROR_NONE) {
        file->unknown = unknown;
    }
}

static bool is_listed(const struct discovery_file *file, const char *address)
{
    for (size_t i = 0; i < file->count; i++) {
        if (strcmp(file->entries[i].address, address) == 0) {
            return true;
        }
    }
    return false;
}

static bool read_entry(struct discovery_file *file, yaml_document_t *document,
                       const yaml_node_t *node, size_t index, struct error *err)
{
    struct discovery_entry entry = {0};
    if (node->type != YAML_MAPPING_NODE) {
        return wrong_type(node, "an entry of nodes", "a mapping", err);
    }
    const bool good = read_text(document, node, "name", &entry.name, err) &&
                      read_text(document, node, "grpc_address", &entry.address, err) &&
                      read_text(document, node, "ca_cert_path", &entry.ca_path, err) &&
                      read_bool(document, node, "tls_enabled", &entry.tls, err) &&
                      check_entry(&entry, index, err);
    note_unknown(file, document, node, good ? NULL : err);
    if (!good || is_listed(file, entry.address)) {
        entry_fini(&entry);
        return good;
    }
    file->entries = own_grow(file->entries, file->count + 1, sizeof *file->entries);
    file->entries[file->count++] = entry;
    return true;
}

static bool read_document(struct discovery_file *file, yaml_document_t *document, struct error *err)
{
    const yaml_node_t *root = yaml_document_get_root_node(document);
    if (is_null(root)) { /* what a writer that is interrupted, or a full disk, leaves behind */
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "the file is empty, expected the key nodes, with a list of entries "
                         "with " ENTRY_KEYS "; nodes: [] lists none");
    }
    if (root->type != YAML_MAPPING_NODE) {
        return wrong_type(root, "the file", "a mapping with the key nodes", err);
    }
    const yaml_node_t *nodes = value_of(document, root, "nodes");
    if (nodes == NULL) {
        return no_list(document, root, err);
    }
    if (is_null(nodes)) {
        return true;
    }
    if (nodes->type != YAML_SEQUENCE_NODE) {
        return wrong_type(nodes, "nodes", "a list", err);
    }
    const yaml_node_item_t *first = nodes->data.sequence.items.start;
    for (const yaml_node_item_t *item = first; item < nodes->data.sequence.items.top; item++) {
        const yaml_node_t *node = yaml_document_get_node(document, *item);
        if (!read_entry(file, document, node, (size_t)(item - first), err)) {
            return false;
        }
    }
    return true;
}

bool discovery_file_parse(struct discovery_file *file, struct slice yaml, struct error *err)
{
    yaml_parser_t parser;
    yaml_document_t document;
    *file = (struct discovery_file){0};
    if (yaml_parser_initialize(&parser) == 0) {
        abort();
    }
    yaml_parser_set_input_string(&parser, yaml.len == 0 ? (const uint8_t *)"" : yaml.ptr, yaml.len);
    bool good = yaml_parser_load(&parser, &document) != 0;
    if (!good) {
        error_set(err, ERROR_INVALID_ARGUMENT, "failed to parse YAML: line %zu: %s",
                  parser.problem_mark.line + 1,
                  parser.problem == NULL ? "unreadable" : parser.problem);
    } else {
        good = read_document(file, &document, err);
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    if (!good) {
        discovery_file_fini(file);
    }
    return good;
}

bool discovery_file_read(struct discovery_file *file, const char *path, struct error *err)
{
    *file = (struct discovery_file){0};
    FILE *in = fopen(path, "re");
    if (in == NULL) {
        return error_set(err, ERROR_UNAVAILABLE, "failed to read file: %s: %s", path,
                         strerror(errno));
    }
    char *bytes = own_array(1, MAX_FILE_BYTES);
    const size_t len = fread(bytes, 1, MAX_FILE_BYTES, in);
    const bool whole = ferror(in) == 0 && len < MAX_FILE_BYTES;
    (void)fclose(in); /* only read */
    const bool good = whole ? discovery_file_parse(file, slice_of(bytes, len), err)
                            : error_set(err, ERROR_UNAVAILABLE,
                                        "failed to read file: %s: more than %zu bytes, or not a "
                                        "file",
                                        path, MAX_FILE_BYTES);
    free(bytes);
    return good;
}

void discovery_file_fini(struct discovery_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        entry_fini(&file->entries[i]);
    }
    free(file->entries);
    *file = (struct discovery_file){0};
}
