// SPDX-License-Identifier: Apache-2.0
/* A resolver lives for one round, so that a changed /etc/resolv.conf counts from the next one on.
 */
#include "liaison/cluster/discovery_dns.h"

#include "liaison/container_of.h"
#include "liaison/http2/resolver.h"
#include "liaison/own.h"

#include <ares.h>

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct srv_name {
    struct discovery_dns *dns; /* borrow: outlives its names */
    const char *name;          /* borrow: the options */
    const char *ca_path;       /* borrow: the options; "" = none */
    size_t count;
    char **addresses; /* own: of the last good answer */
};

struct discovery_dns {
    struct discovery_dns_setup setup;
    uint64_t began;            /* loop_now's clock */
    struct resolver *resolver; /* own; NULL between two rounds */
    size_t open;               /* names that have not answered in this round */
    struct error why;          /* the last failure of this round */
    size_t name_count;
    struct srv_name *names; /* own */
    struct loop_timer next;
    struct loop_task done;
};

/* Answers */

static void forget_addresses(struct srv_name *name)
{
    for (size_t i = 0; i < name->count; i++) {
        free(name->addresses[i]);
    }
    free(name->addresses);
    name->addresses = NULL;
    name->count = 0;
}

/* "target.:port"; an address in place of a name stays as it is. */
static char *address_of(const struct ares_srv_reply *reply)
{
    struct in_addr ignored;
    const size_t len = strlen(reply->host);
    const bool complete =
        (len > 0 && reply->host[len - 1] == '.') || inet_pton(AF_INET, reply->host, &ignored) == 1;
    char *address;
    if (asprintf(&address, "%s%s:%u", reply->host, complete ? "" : ".", (unsigned)reply->port) <
        0) {
        abort();
    }
    return address;
}

static void take_replies(struct srv_name *name, const struct ares_srv_reply *replies)
{
    forget_addresses(name);
    for (; replies != NULL; replies = replies->next) {
        name->addresses = own_grow(name->addresses, name->count + 1, sizeof(char *));
        name->addresses[name->count++] = address_of(replies);
    }
}

static void on_srv(void *owner, int status, int timeouts, unsigned char *bytes, int len)
{
    struct srv_name *name = owner;
    struct discovery_dns *dns = name->dns;
    struct ares_srv_reply *replies = NULL;
    (void)timeouts;
    if (status == ARES_EDESTRUCTION || status == ARES_ECANCELLED) {
        return;
    }
    if (status == ARES_SUCCESS) {
        status = ares_parse_srv_reply(bytes, len, &replies);
    }
    if (status == ARES_SUCCESS && replies != NULL) {
        take_replies(name, replies);
    } else {
        error_set(&dns->why, ERROR_UNAVAILABLE, "SRV records of %s: %s", name->name,
                  status == ARES_SUCCESS ? "there are none" : ares_strerror(status));
    }
    ares_free_data(replies);
    if (--dns->open == 0) {
        loop_defer(dns->setup.loop, &dns->done); /* c-ares is on the stack */
    }
}

/* Lists */

static bool is_listed(const struct discovery_file *list, const char *address)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->entries[i].address, address) == 0) {
            return true;
        }
    }
    return false;
}

static void list_name(const struct discovery_dns *dns, const struct srv_name *name,
                      struct discovery_file *list)
{
    for (size_t i = 0; i < name->count; i++) {
        if (is_listed(list, name->addresses[i])) {
            continue;
        }
        list->entries = own_grow(list->entries, list->count + 1, sizeof *list->entries);
        list->entries[list->count++] =
            (struct discovery_entry){.name = own_text(name->name),
                                     .address = own_text(name->addresses[i]),
                                     .tls = dns->setup.options->node_discovery_dns_tls,
                                     .ca_path = own_text(name->ca_path)};
    }
}

static void tell(struct discovery_dns *dns)
{
    struct discovery_file list = {0};
    for (size_t i = 0; i < dns->name_count; i++) {
        list_name(dns, &dns->names[i], &list);
    }
    const struct error *why = dns->why.code == ERROR_NONE ? NULL : &dns->why;
    dns->setup.on_list(dns->setup.owner, list.count == 0 ? NULL : &list, why);
    discovery_file_fini(&list);
}

/* Rounds */

static void schedule(struct discovery_dns *dns)
{
    const struct options *options = dns->setup.options;
    const uint64_t age = loop_now(dns->setup.loop) - dns->began;
    const bool young = age < (uint64_t)options->node_discovery_dns_fetch_init_duration;
    loop_timer_start(&dns->next, duration_ms(young ? options->node_discovery_dns_fetch_init_interval
                                                   : options->node_discovery_dns_fetch_interval));
}

static void on_done(struct loop_task *task)
{
    struct discovery_dns *dns = container_of(task, struct discovery_dns, done);
    if (dns->resolver == NULL) {
        return; /* closed since */
    }
    resolver_free(&dns->resolver);
    schedule(dns);
    tell(dns);
}

/* False: why says what is wrong with the resolver. */
static bool open_resolver(struct discovery_dns *dns)
{
    const char *server = dns->setup.options->node_discovery_dns_server;
    dns->resolver = resolver_new(dns->setup.loop, true, NULL, &dns->why);
    if (dns->resolver == NULL || server[0] == '\0') {
        return dns->resolver != NULL;
    }
    const int status = ares_set_servers_ports_csv(resolver_channel(dns->resolver), server);
    if (status == ARES_SUCCESS) {
        return true;
    }
    resolver_free(&dns->resolver);
    return error_set(&dns->why, ERROR_INVALID_ARGUMENT, "--node-discovery-dns-server=%s: %s",
                     server, ares_strerror(status));
}

static void run_next(struct loop_timer *timer)
{
    struct discovery_dns *dns = container_of(timer, struct discovery_dns, next);
    dns->why = (struct error){0};
    if (!open_resolver(dns)) {
        schedule(dns);
        tell(dns);
        return;
    }
    dns->open = dns->name_count;
    for (size_t i = 0; i < dns->name_count; i++) {
        ares_search(resolver_channel(dns->resolver), dns->names[i].name, ns_c_in, ns_t_srv, on_srv,
                    &dns->names[i]);
    }
    resolver_kick(dns->resolver);
}

/* Life */

struct discovery_dns *discovery_dns_open(const struct discovery_dns_setup *setup)
{
    const struct option_list *names = &setup->options->node_discovery_dns_srv_addresses;
    const struct option_list *cas = &setup->options->node_discovery_dns_ca_certs;
    struct discovery_dns *dns = own_array(1, sizeof *dns);
    dns->setup = *setup;
    dns->began = loop_now(setup->loop);
    dns->done.run = on_done;
    dns->names = own_array(names->count, sizeof *dns->names);
    dns->name_count = names->count;
    for (size_t i = 0; i < names->count; i++) {
        dns->names[i] = (struct srv_name){
            .dns = dns, .name = names->items[i], .ca_path = i < cas->count ? cas->items[i] : ""};
    }
    loop_timer_init(&dns->next, setup->loop, run_next);
    loop_timer_start(&dns->next, 0);
    return dns;
}

static void reap(void *object)
{
    struct discovery_dns *dns = object;
    for (size_t i = 0; i < dns->name_count; i++) {
        forget_addresses(&dns->names[i]);
    }
    free(dns->names);
    free(dns);
}

void discovery_dns_close(struct discovery_dns **dns)
{
    struct discovery_dns *closed = *dns;
    *dns = NULL;
    if (closed == NULL) {
        return;
    }
    resolver_free(&closed->resolver);
    loop_timer_fini(&closed->next);
    loop_reap(closed->setup.loop, closed, reap);
}
