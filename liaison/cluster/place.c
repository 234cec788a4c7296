// SPDX-License-Identifier: Apache-2.0
/* The retry timer does every first question, too, so that whatever comes of it comes from the loop.
 */
#include "liaison/cluster/place.h"

#include "liaison/cluster/backoff.h"
#include "liaison/cluster/trust.h"
#include "liaison/cluster/whois.h"
#include "liaison/container_of.h"
#include "liaison/own.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "DISCOVERY"

struct place {
    struct place_setup setup;
    char *name;                         /* own: as listed, for texts */
    char *address;                      /* own */
    Banyandb__Database__V1__Node *node; /* own; NULL until it has answered */
    struct error why;
    bool tls;
    char *ca_path;              /* own */
    struct ssl_ctx_st *trusted; /* own; of the last question */
    struct whois *whois;        /* own; NULL = no question on its way */
    struct loop_timer retry;
    struct backoff backoff;
};

static void retry_later(struct place *place, const struct error *why)
{
    if (strcmp(place->why.text, why->text) != 0) {
        log_warn(place->setup.log, MODULE,
                 "a listed node does not say who it is; name=%s address=%s error=%s", place->name,
                 place->address, why->text);
    }
    place->why = *why;
    loop_timer_start(&place->retry, backoff_next(&place->backoff));
}

/* "meta,data" */
static void roles_text(const Banyandb__Database__V1__Node *node, char *text, size_t size)
{
    static const char *const names[] = {"unspecified", "meta", "data", "liaison"};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < node->n_roles && used < size; i++) {
        const unsigned role = (unsigned)node->roles[i];
        used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ",",
                                 role < sizeof names / sizeof names[0] ? names[role] : "unknown");
    }
}

static void log_node(const struct place *place)
{
    const Banyandb__Database__V1__Node *node = place->node;
    char roles[64];
    roles_text(node, roles, sizeof roles);
    log_info(place->setup.log, MODULE,
             "node found; node=%s listed_as=%s roles=%s address=%s schema_address=%s",
             node->metadata->name, place->address, roles, node->grpc_address,
             node->property_schema_grpc_address);
}

static bool is_same(const Banyandb__Database__V1__Node *a, const Banyandb__Database__V1__Node *b)
{
    const size_t len = banyandb__database__v1__node__get_packed_size(a);
    if (len != banyandb__database__v1__node__get_packed_size(b)) {
        return false;
    }
    uint8_t *bytes = own_array(2, len + 1);
    banyandb__database__v1__node__pack(a, bytes);
    banyandb__database__v1__node__pack(b, bytes + len);
    const bool same = memcmp(bytes, bytes + len, len) == 0;
    free(bytes);
    return same;
}

/* True: it is another one than before. */
static bool take_node(struct place *place, Banyandb__Database__V1__Node *node)
{
    Banyandb__Database__V1__Node *before = place->node;
    const bool changed = before == NULL || !is_same(before, node);
    place->node = node;
    place->why = (struct error){0};
    if (before != NULL) {
        banyandb__database__v1__node__free_unpacked(before, NULL);
    }
    return changed;
}

static void on_whois(void *owner, Banyandb__Database__V1__Node *node, const struct error *why)
{
    struct place *place = owner;
    place->whois = NULL;
    if (why != NULL && place->node != NULL) {
        return; /* what it said before holds */
    }
    if (why != NULL) {
        retry_later(place, why);
    } else if (take_node(place, node)) {
        log_node(place);
    } else {
        return;
    }
    place->setup.on_change(place->setup.owner);
}

static void ask(struct place *place)
{
    const struct place_setup *setup = &place->setup;
    struct error why;
    if (!trust_renew(&place->trusted, place->tls, place->ca_path, &why)) {
        on_whois(place, NULL, &why);
        return;
    }
    place->whois = whois_open(&(struct whois_setup){
        .loop = setup->loop,
        .address = place->address,
        .tls = place->trusted,
        .tls_switch = setup->options->node_discovery_mode == DISCOVERY_DNS
                          ? "--node-discovery-dns-tls"
                          : "tls_enabled in the list of nodes",
        .timeout_ms = duration_ms(setup->options->node_discovery_grpc_timeout),
        .charge = setup->charge,
        .live = setup->live,
        .on_answer = on_whois,
        .owner = place,
    });
}

static void run_retry(struct loop_timer *timer)
{
    ask(container_of(timer, struct place, retry));
}

struct place *place_open(const struct place_setup *setup, const struct discovery_entry *entry)
{
    const struct options *options = setup->options;
    struct place *place = own_array(1, sizeof *place);
    place->setup = *setup;
    place->name = own_text(entry->name);
    place->address = own_text(entry->address);
    place->tls = entry->tls;
    place->ca_path = own_text(entry->ca_path);
    place->backoff = (struct backoff){
        .first_ms = duration_ms(options->node_discovery_file_retry_initial_interval),
        .max_ms = duration_ms(options->node_discovery_file_retry_max_interval),
        .factor = options->node_discovery_file_retry_multiplier,
    };
    loop_timer_init(&place->retry, setup->loop, run_retry);
    loop_timer_start(&place->retry, 0);
    return place;
}

static void reap(void *object)
{
    struct place *place = object;
    free(place->name);
    free(place->address);
    free(place->ca_path);
    tls_free(&place->trusted);
    if (place->node != NULL) {
        banyandb__database__v1__node__free_unpacked(place->node, NULL);
    }
    free(place);
}

void place_close(struct place **place)
{
    struct place *closed = *place;
    *place = NULL;
    if (closed == NULL) {
        return;
    }
    whois_close(&closed->whois);
    loop_timer_fini(&closed->retry);
    loop_reap(closed->setup.loop, closed, reap);
}

void place_update(struct place *place, const struct discovery_entry *entry)
{
    if (place->tls == entry->tls && strcmp(place->ca_path, entry->ca_path) == 0) {
        return;
    }
    place->tls = entry->tls;
    free(place->ca_path);
    place->ca_path = own_text(entry->ca_path);
    if (place->node == NULL) {
        whois_close(&place->whois);
        backoff_reset(&place->backoff);
        loop_timer_start(&place->retry, 0);
    }
}

void place_ask_again(struct place *place)
{
    if (place->node != NULL && place->whois == NULL) {
        ask(place);
    }
}

const char *place_address(const struct place *place)
{
    return place->address;
}

const Banyandb__Database__V1__Node *place_node(const struct place *place)
{
    return place->node;
}

const struct error *place_error(const struct place *place)
{
    return &place->why;
}
