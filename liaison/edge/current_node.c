// SPDX-License-Identifier: Apache-2.0
#include "liaison/edge/current_node.h"

#include "liaison/edge/answer.h"
#include "liaison/edge/edge.h"
#include "liaison/own.h"
#include "proto/database.pb-c.h"
#include "proto/moment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* <host>:<the public port> */
static char *public_address(const struct edge *edge)
{
    const char *name = edge_options(edge)->node_name;
    const char *colon = strrchr(name, ':');
    const int host_len = colon == NULL ? (int)strlen(name) : (int)(colon - name);
    char *address;
    if (asprintf(&address, "%.*s:%u", host_len, name, (unsigned)edge_port(edge)) < 0) {
        abort();
    }
    return address;
}

/* From --node-labels key=value,…, which were checked at the start. */
static size_t take_labels(const struct option_list *list,
                          Banyandb__Database__V1__Node__LabelsEntry *entries)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *equals = strchr(list->items[i], '=');
        banyandb__database__v1__node__labels_entry__init(&entries[i]);
        entries[i].key = own_text_of(list->items[i], (size_t)(equals - list->items[i]));
        entries[i].value = own_text(equals + 1);
    }
    return list->count;
}

static void send_node(const struct edge *edge, struct exchange *exchange,
                      Banyandb__Database__V1__Node *node)
{
    Banyandb__Common__V1__Metadata metadata;
    Google__Protobuf__Timestamp created_at = moment_timestamp(edge_started_at(edge));
    Banyandb__Database__V1__GetCurrentNodeResponse response;
    banyandb__common__v1__metadata__init(&metadata);
    banyandb__database__v1__get_current_node_response__init(&response);
    metadata.name = edge_options(edge)->node_name;
    node->metadata = &metadata;
    node->created_at = &created_at;
    response.node = node;
    answer_send(exchange, &response.base);
}

static void on_get(struct edge *edge, struct exchange *exchange, struct msg *msg)
{
    const struct option_list *labels = &edge_options(edge)->node_labels;
    Banyandb__Database__V1__Node node;
    Banyandb__Database__V1__Node__LabelsEntry *entries = own_array(labels->count, sizeof *entries);
    Banyandb__Database__V1__Node__LabelsEntry **links =
        own_array(labels->count, sizeof(struct Banyandb__Database__V1__Node__LabelsEntry *));
    msg_release(&msg); /* it asks for nothing in particular */
    banyandb__database__v1__node__init(&node);
    node.n_labels = take_labels(labels, entries);
    node.labels = links;
    for (size_t i = 0; i < node.n_labels; i++) {
        links[i] = &entries[i];
    }
    node.grpc_address = public_address(edge);
    send_node(edge, exchange, &node);
    for (size_t i = 0; i < node.n_labels; i++) {
        free(entries[i].key);
        free(entries[i].value);
    }
    free(node.grpc_address);
    free(links);
    free(entries);
}

const struct service_method current_node_methods[] = {
    {"/banyandb.database.v1.NodeQueryService/GetCurrentNode", on_get, NULL},
    {NULL, NULL, NULL},
};
