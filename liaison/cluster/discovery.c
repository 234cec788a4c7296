// SPDX-License-Identifier: Apache-2.0
/*
 * A place lives from the reading that lists it to the one that does not. It is asked at once, then
 * with a growing wait until it answers; once it has, it is not asked again.
 */
#include "liaison/cluster/discovery.h"

#include "liaison/cluster/backoff.h"
#include "liaison/cluster/discovery_file.h"
#include "liaison/cluster/file_watch.h"
#include "liaison/cluster/whois.h"
#include "liaison/own.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "DISCOVERY"

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

struct asked_place {
    struct discovery_place place;
    struct discovery *discovery; /* borrow: outlives its places */
    bool tls;
    char *ca_path;       /* own */
    struct whois *whois; /* own; NULL = no question on its way */
    struct loop_timer retry;
    struct backoff backoff;
};

struct discovery {
    struct discovery_setup setup;
    struct file_watch *watch; /* own */
    struct loop_timer tick;
    struct error why; /* of the last reading */
    size_t count;
    struct asked_place **places; /* own, in file order */
};

/* Places */

static void ask(struct asked_place *asked);

static void retry_later(struct asked_place *asked, const struct error *why)
{
    const struct discovery_place *place = &asked->place;
    if (strcmp(place->why.text, why->text) != 0) {
        log_warn(asked->discovery->setup.log, MODULE,
                 "a listed node does not say who it is; name=%s address=%s error=%s", place->name,
                 place->address, why->text);
    }
    asked->place.why = *why;
    loop_timer_start(&asked->retry, backoff_next(&asked->backoff));
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

static void log_node(const struct asked_place *asked)
{
    const Banyandb__Database__V1__Node *node = asked->place.node;
    char roles[64];
    roles_text(node, roles, sizeof roles);
    log_info(asked->discovery->setup.log, MODULE,
             "node found; node=%s listed_as=%s roles=%s address=%s schema_address=%s",
             node->metadata->name, asked->place.address, roles, node->grpc_address,
             node->property_schema_grpc_address);
}

static void on_whois(void *owner, Banyandb__Database__V1__Node *node, const struct error *why)
{
    struct asked_place *asked = owner;
    struct discovery *discovery = asked->discovery;
    asked->whois = NULL;
    if (why != NULL) {
        retry_later(asked, why);
    } else {
        asked->place.node = node;
        asked->place.why = (struct error){0};
        log_node(asked);
    }
    discovery->setup.on_change(discovery->setup.owner);
}

static void ask(struct asked_place *asked)
{
    const struct discovery_setup *setup = &asked->discovery->setup;
    struct error why;
    if (asked->tls) {
        error_set(&why, ERROR_UNIMPLEMENTED,
                  "tls_enabled: TLS towards listed nodes is not available yet");
        retry_later(asked, &why);
        return;
    }
    asked->whois = whois_open(&(struct whois_setup){
        .loop = setup->loop,
        .address = asked->place.address,
        .timeout_ms = duration_ms(setup->options->node_discovery_grpc_timeout),
        .charge = setup->charge,
        .live = setup->live,
        .on_answer = on_whois,
        .owner = asked,
    });
}

static void run_retry(struct loop_timer *timer)
{
    ask(container_of(timer, struct asked_place, retry));
}

static struct asked_place *place_new(struct discovery *discovery,
                                     const struct discovery_entry *entry)
{
    const struct options *options = discovery->setup.options;
    struct asked_place *asked = own_array(1, sizeof *asked);
    asked->discovery = discovery;
    asked->place.name = own_text(entry->name);
    asked->place.address = own_text(entry->address);
    asked->tls = entry->tls;
    asked->ca_path = own_text(entry->ca_path);
    asked->backoff = (struct backoff){
        .first_ms = duration_ms(options->node_discovery_file_retry_initial_interval),
        .max_ms = duration_ms(options->node_discovery_file_retry_max_interval),
        .factor = options->node_discovery_file_retry_multiplier,
    };
    loop_timer_init(&asked->retry, discovery->setup.loop, run_retry);
    ask(asked);
    return asked;
}

static void reap_place(void *object)
{
    struct asked_place *asked = object;
    free(asked->place.name);
    free(asked->place.address);
    free(asked->ca_path);
    if (asked->place.node != NULL) {
        banyandb__database__v1__node__free_unpacked(asked->place.node, NULL);
    }
    free(asked);
}

static void place_close(struct asked_place *asked)
{
    whois_close(&asked->whois);
    loop_timer_fini(&asked->retry);
    loop_reap(asked->discovery->setup.loop, asked, reap_place);
}

/* A place that still waits for its answer is asked anew at once when the way to ask has changed. */
static void place_update(struct asked_place *asked, const struct discovery_entry *entry)
{
    const bool same = asked->tls == entry->tls && strcmp(asked->ca_path, entry->ca_path) == 0;
    if (same || asked->place.node != NULL) {
        return;
    }
    asked->tls = entry->tls;
    free(asked->ca_path);
    asked->ca_path = own_text(entry->ca_path);
    whois_close(&asked->whois);
    loop_timer_stop(&asked->retry);
    backoff_reset(&asked->backoff);
    ask(asked);
}

/* Readings */

/* Takes the place of this address out of the old list, or NULL. */
static struct asked_place *take_old(struct discovery *discovery, const char *address)
{
    for (size_t i = 0; i < discovery->count; i++) {
        struct asked_place *asked = discovery->places[i];
        if (asked != NULL && strcmp(asked->place.address, address) == 0) {
            discovery->places[i] = NULL;
            return asked;
        }
    }
    return NULL;
}

static size_t close_rest(struct discovery *discovery)
{
    size_t closed = 0;
    for (size_t i = 0; i < discovery->count; i++) {
        if (discovery->places[i] != NULL) {
            log_info(discovery->setup.log, MODULE, "node is not listed any more; address=%s",
                     discovery->places[i]->place.address);
            place_close(discovery->places[i]);
            closed++;
        }
    }
    free(discovery->places);
    discovery->places = NULL;
    discovery->count = 0;
    return closed;
}

static void follow(struct discovery *discovery, const struct discovery_file *file)
{
    struct asked_place **places = own_array(file->count + 1, sizeof(struct asked_place *));
    size_t added = 0;
    for (size_t i = 0; i < file->count; i++) {
        places[i] = take_old(discovery, file->entries[i].address);
        if (places[i] != NULL) {
            place_update(places[i], &file->entries[i]);
        } else {
            places[i] = place_new(discovery, &file->entries[i]);
            added++;
        }
    }
    const size_t removed = close_rest(discovery);
    discovery->places = places;
    discovery->count = file->count;
    if (added + removed > 0) {
        log_info(discovery->setup.log, MODULE,
                 "the list of nodes has changed; listed=%zu added=%zu removed=%zu", file->count,
                 added, removed);
        discovery->setup.on_change(discovery->setup.owner);
    }
}

static void reload(struct discovery *discovery)
{
    struct discovery_file file;
    struct error err;
    if (!discovery_file_read(&file, discovery->setup.options->node_discovery_file_path, &err)) {
        log_error(discovery->setup.log, MODULE, "the list of nodes stays as it was; error=%s",
                  err.text);
        discovery->why = err;
        return;
    }
    discovery->why = (struct error){0};
    follow(discovery, &file);
    discovery_file_fini(&file);
}

static void on_file_change(void *owner)
{
    reload(owner);
}

static void start_tick(struct discovery *discovery)
{
    const int64_t interval = discovery->setup.options->node_discovery_file_fetch_interval;
    if (interval > 0) {
        loop_timer_start(&discovery->tick, duration_ms(interval));
    }
}

static void run_tick(struct loop_timer *timer)
{
    struct discovery *discovery = container_of(timer, struct discovery, tick);
    reload(discovery);
    start_tick(discovery);
}

/* Life */

static bool check_mode(const struct options *options, struct error *err)
{
    switch ((enum discovery_mode)options->node_discovery_mode) {
    case DISCOVERY_FILE:
        return true;
    case DISCOVERY_DNS:
        return error_set(err, ERROR_UNIMPLEMENTED,
                         "--node-discovery-mode=dns is not available yet: use file");
    case DISCOVERY_NONE:
        break;
    }
    return error_set(err, ERROR_INVALID_ARGUMENT,
                     "--node-discovery-mode=none knows no data nodes: use file, with a list of "
                     "them in --node-discovery-file-path");
}

struct discovery *discovery_open(const struct discovery_setup *setup, struct error *err)
{
    if (!check_mode(setup->options, err)) {
        return NULL;
    }
    struct discovery *discovery = own_array(1, sizeof *discovery);
    discovery->setup = *setup;
    loop_timer_init(&discovery->tick, setup->loop, run_tick);
    discovery->watch = file_watch_open(setup->loop, setup->options->node_discovery_file_path,
                                       on_file_change, discovery);
    reload(discovery);
    start_tick(discovery);
    return discovery;
}

static void reap(void *object)
{
    free(object);
}

void discovery_close(struct discovery **discovery)
{
    struct discovery *closed = *discovery;
    *discovery = NULL;
    if (closed == NULL) {
        return;
    }
    for (size_t i = 0; i < closed->count; i++) {
        place_close(closed->places[i]);
    }
    free(closed->places);
    file_watch_close(&closed->watch);
    loop_timer_fini(&closed->tick);
    loop_reap(closed->setup.loop, closed, reap);
}

size_t discovery_count(const struct discovery *discovery)
{
    return discovery->count;
}

const struct discovery_place *discovery_at(const struct discovery *discovery, size_t i)
{
    return &discovery->places[i]->place;
}

const struct error *discovery_error(const struct discovery *discovery)
{
    return &discovery->why;
}
