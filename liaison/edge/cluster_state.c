// SPDX-License-Identifier: Apache-2.0
/* The exchange may be gone when the survey is back; what waits for it lives until then. */
#include "liaison/edge/cluster_state.h"

#include "liaison/edge/answer.h"
#include "liaison/own.h"
#include "proto/database.pb-c.h"

#include <stdlib.h>

struct waiting {
    struct exchange *exchange; /* borrow; NULL when it is gone */
};

/* Sorts the listed members into the table; its arrays have room for all members. */
static void fill(Banyandb__Database__V1__RouteTable *table, const struct survey_result *result,
                 const struct world *world)
{
    for (size_t i = 0; i < world->member_count; i++) {
        const struct member *member = &world->members[i];
        if (!member_is_askable(member)) {
            continue;
        }
        table->registered[table->n_registered++] =
            banyandb__database__v1__node__unpack(NULL, member->said_len, member->said);
        if (survey_up(result, member->name) > 0) {
            table->active[table->n_active++] = member->name;
        } else {
            table->evictable[table->n_evictable++] = member->name;
        }
    }
}

static void send_table(struct exchange *exchange, Banyandb__Database__V1__RouteTable *data_nodes)
{
    Banyandb__Database__V1__RouteTable liaisons;
    Banyandb__Database__V1__GetClusterStateResponse__RouteTablesEntry entries[2];
    Banyandb__Database__V1__GetClusterStateResponse__RouteTablesEntry *links[2];
    Banyandb__Database__V1__GetClusterStateResponse response;
    char keys[2][8] = {"tire1", "tire2"};
    banyandb__database__v1__route_table__init(&liaisons);
    banyandb__database__v1__get_cluster_state_response__init(&response);
    for (int i = 0; i < 2; i++) {
        banyandb__database__v1__get_cluster_state_response__route_tables_entry__init(&entries[i]);
        entries[i].key = keys[i];
        entries[i].value = i == 0 ? &liaisons : data_nodes;
        links[i] = &entries[i];
    }
    response.n_route_tables = 2;
    response.route_tables = links;
    answer_send(exchange, &response.base);
}

static void answer(struct exchange *exchange, const struct survey_result *result)
{
    const struct world *world = survey_world(result);
    const size_t members = world == NULL ? 0 : world->member_count;
    Banyandb__Database__V1__RouteTable table;
    banyandb__database__v1__route_table__init(&table);
    table.registered = own_array(members, sizeof(Banyandb__Database__V1__Node *));
    table.active = own_array(members, sizeof(char *));
    table.evictable = own_array(members, sizeof(char *));
    if (world != NULL) {
        fill(&table, result, world);
    }
    send_table(exchange, &table);
    for (size_t i = 0; i < table.n_registered; i++) {
        banyandb__database__v1__node__free_unpacked(table.registered[i], NULL);
    }
    free(table.registered);
    free(table.active);
    free(table.evictable);
}

static void on_done(void *owner, const struct survey_result *result)
{
    struct waiting *waiting = owner;
    if (waiting->exchange != NULL) {
        exchange_set_user(waiting->exchange, NULL);
        answer(waiting->exchange, result);
    }
    free(waiting);
}

static void on_get(struct edge *edge, struct exchange *exchange, struct msg *msg)
{
    struct waiting *waiting = own_array(1, sizeof *waiting);
    waiting->exchange = exchange;
    exchange_set_user(exchange, waiting);
    msg_release(&msg); /* it asks for nothing in particular */
    edge_survey(edge, on_done, waiting);
}

static void on_gone(struct edge *edge, struct exchange *exchange)
{
    (void)edge;
    struct waiting *waiting = exchange_user(exchange);
    if (waiting != NULL) {
        waiting->exchange = NULL;
    }
}

const struct service_method cluster_state_methods[] = {
    {"/banyandb.database.v1.ClusterStateService/GetClusterState", on_get, on_gone},
    {NULL, NULL, NULL},
};
