// SPDX-License-Identifier: Apache-2.0
/* A place lives from the reading that lists it to the one that does not. */
#include "liaison/cluster/discovery.h"

#include "liaison/cluster/discovery_dns.h"
#include "liaison/cluster/file_watch.h"
#include "liaison/container_of.h"
#include "liaison/own.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "DISCOVERY"

struct discovery {
    struct place_setup setup;
    struct file_watch *watch;  /* own; NULL but in mode file */
    struct discovery_dns *dns; /* own; NULL but in mode dns */
    struct loop_timer tick;
    struct error why;     /* of the last reading */
    struct error unknown; /* a key of the file; the log has been told */
    size_t count;
    struct place **places; /* own, in the source's order */
};

/* Readings */

/* Takes the place of this address out of the old list, or NULL. */
static struct place *take_old(struct discovery *discovery, const char *address)
{
    for (size_t i = 0; i < discovery->count; i++) {
        struct place *place = discovery->places[i];
        if (place != NULL && strcmp(place_address(place), address) == 0) {
            discovery->places[i] = NULL;
            return place;
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
                     place_address(discovery->places[i]));
            place_close(&discovery->places[i]);
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
    struct place **places = own_array(file->count + 1, sizeof(struct place *));
    size_t added = 0;
    for (size_t i = 0; i < file->count; i++) {
        places[i] = take_old(discovery, file->entries[i].address);
        if (places[i] != NULL) {
            place_update(places[i], &file->entries[i]);
        } else {
            places[i] = place_open(&discovery->setup, &file->entries[i]);
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

/* Once, though the file is read again and again. */
static void tell_unknown(struct discovery *discovery, const struct discovery_file *file)
{
    if (file->unknown.code != ERROR_NONE &&
        strcmp(file->unknown.text, discovery->unknown.text) != 0) {
        log_warn(discovery->setup.log, MODULE,
                 "the list of nodes has a key that means nothing; error=%s", file->unknown.text);
    }
    discovery->unknown = file->unknown;
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
    tell_unknown(discovery, &file);
    follow(discovery, &file);
    discovery_file_fini(&file);
}

/* A round of SRV questions: all failed, or the list as it is now. */
static void on_list(void *owner, const struct discovery_file *list, const struct error *why)
{
    struct discovery *discovery = owner;
    const struct error nothing = {0};
    if (why != NULL && strcmp(why->text, discovery->why.text) != 0) {
        log_warn(discovery->setup.log, MODULE, "not every name could be asked; error=%s",
                 why->text);
    }
    discovery->why = why == NULL ? nothing : *why;
    if (list != NULL) {
        follow(discovery, list);
    }
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

void discovery_ask_again(struct discovery *discovery, const char *node_name)
{
    for (size_t i = 0; i < discovery->count; i++) {
        const Banyandb__Database__V1__Node *node = place_node(discovery->places[i]);
        if (node != NULL && strcmp(node->metadata->name, node_name) == 0) {
            place_ask_again(discovery->places[i]);
        }
    }
}

static void run_tick(struct loop_timer *timer)
{
    struct discovery *discovery = container_of(timer, struct discovery, tick);
    if (discovery->watch != NULL) {
        reload(discovery);
    }
    for (size_t i = 0; i < discovery->count; i++) {
        place_ask_again(discovery->places[i]);
    }
    start_tick(discovery);
}

/* Life */

static bool check_mode(const struct options *options, struct error *err)
{
    switch ((enum discovery_mode)options->node_discovery_mode) {
    case DISCOVERY_FILE:
    case DISCOVERY_DNS:
        return true;
    case DISCOVERY_NONE:
        break;
    }
    return error_set(err, ERROR_INVALID_ARGUMENT,
                     "--node-discovery-mode=none knows no data nodes: use file, with a list of "
                     "them in --node-discovery-file-path, or dns, with SRV names in "
                     "--node-discovery-dns-srv-addresses");
}

struct discovery *discovery_open(const struct place_setup *setup, struct error *err)
{
    if (!check_mode(setup->options, err)) {
        return NULL;
    }
    struct discovery *discovery = own_array(1, sizeof *discovery);
    discovery->setup = *setup;
    loop_timer_init(&discovery->tick, setup->loop, run_tick);
    if (setup->options->node_discovery_mode == DISCOVERY_DNS) {
        discovery->dns = discovery_dns_open(&(struct discovery_dns_setup){.loop = setup->loop,
                                                                          .options = setup->options,
                                                                          .on_list = on_list,
                                                                          .owner = discovery});
    } else {
        discovery->watch = file_watch_open(setup->loop, setup->options->node_discovery_file_path,
                                           on_file_change, discovery);
        reload(discovery);
    }
    start_tick(discovery);
    return discovery;
}

void discovery_close(struct discovery **discovery)
{
    struct discovery *closed = *discovery;
    *discovery = NULL;
    if (closed == NULL) {
        return;
    }
    for (size_t i = 0; i < closed->count; i++) {
        place_close(&closed->places[i]);
    }
    free(closed->places);
    file_watch_close(&closed->watch);
    discovery_dns_close(&closed->dns);
    loop_timer_fini(&closed->tick);
    loop_reap(closed->setup.loop, closed, free);
}

size_t discovery_count(const struct discovery *discovery)
{
    return discovery->count;
}

const struct place *discovery_at(const struct discovery *discovery, size_t i)
{
    return discovery->places[i];
}

const struct error *discovery_error(const struct discovery *discovery)
{
    return &discovery->why;
}
