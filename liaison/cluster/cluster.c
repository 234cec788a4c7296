// SPDX-License-Identifier: Apache-2.0
/*
 * Whatever changes (places, sessions, objects) only starts a timer of a few milliseconds; when it
 * fires, everything is looked at once and at most one world is published. So a registry that
 * replays a thousand objects makes one world, not a thousand.
 */
#include "liaison/cluster/cluster.h"

#include "liaison/cluster/discovery.h"
#include "liaison/cluster/registry.h"
#include "liaison/cluster/roster.h"
#include "liaison/cluster/schema_request.h"
#include "liaison/container_of.h"
#include "liaison/own.h"

#include <stddef.h>
#include <stdlib.h>

#define MODULE     "CLUSTER"
#define SETTLE_MS  5
#define REMIND_MS  5000
#define MS_PER_DAY UINT64_C(86400000)

struct cluster {
    struct cluster_setup setup;
    struct discovery *discovery; /* own */
    struct registry *registry;   /* own */
    struct roster roster;
    bool roster_changed;      /* since the last world */
    bool published;           /* a first world */
    struct loop_timer settle; /* something has changed */
    struct loop_timer forget; /* a member has left long enough ago */
    struct loop_timer remind; /* until the first world: says what is missing */
};

static void on_change(void *owner)
{
    struct cluster *cluster = owner;
    if (!loop_timer_is_running(&cluster->settle)) {
        loop_timer_start(&cluster->settle, SETTLE_MS);
    }
}

/* It may have been started anew, with other labels: asked who it is once more. */
static void on_return(void *owner, const char *name)
{
    struct cluster *cluster = owner;
    discovery_ask_again(cluster->discovery, name);
}

/* Schema servers */

static bool is_schema_server(const Banyandb__Database__V1__Node *node)
{
    bool has_role = false;
    for (size_t i = 0; i < node->n_roles; i++) {
        has_role = has_role || node->roles[i] == BANYANDB__DATABASE__V1__ROLE__ROLE_META;
    }
    return has_role && node->property_schema_grpc_address[0] != '\0';
}

static void follow_servers(struct cluster *cluster)
{
    const size_t places = discovery_count(cluster->discovery);
    struct registry_server *servers = own_array(places + 1, sizeof *servers);
    size_t count = 0;
    for (size_t i = 0; i < places; i++) {
        const Banyandb__Database__V1__Node *node = place_node(discovery_at(cluster->discovery, i));
        if (node != NULL && is_schema_server(node)) {
            servers[count++] = (struct registry_server){
                .name = node->metadata->name, .address = node->property_schema_grpc_address};
        }
    }
    registry_follow(cluster->registry, servers, count);
    free(servers);
}

/* Members */

static void schedule_forgetting(struct cluster *cluster)
{
    const int64_t forget_after = cluster->setup.options->node_forget_after;
    const int64_t at = roster_next_forgotten(&cluster->roster, forget_after);
    if (at == 0) {
        loop_timer_stop(&cluster->forget);
        return;
    }
    const uint64_t wait = duration_ms(at - loop_wall_ns()) + 1;
    loop_timer_start(&cluster->forget, wait < MS_PER_DAY ? wait : MS_PER_DAY);
}

static void follow_members(struct cluster *cluster)
{
    const size_t duplicates = cluster->roster.duplicates;
    const bool changed = roster_update(&cluster->roster, cluster->discovery, loop_wall_ns(),
                                       cluster->setup.options->node_forget_after);
    if (cluster->roster.duplicates > duplicates) {
        log_warn(cluster->setup.log, MODULE,
                 "addresses are listed at which a node answers that has answered at another "
                 "address already; duplicates=%zu",
                 cluster->roster.duplicates);
    }
    if (changed) {
        const struct roster_counts counts = roster_counts(&cluster->roster);
        log_info(cluster->setup.log, MODULE,
                 "the data nodes have changed; listed=%zu unreached=%zu left=%zu", counts.listed,
                 counts.unreached, counts.left);
        schedule_forgetting(cluster);
    }
    cluster->roster_changed = cluster->roster_changed || changed;
}

static void run_forget(struct loop_timer *timer)
{
    struct cluster *cluster = container_of(timer, struct cluster, forget);
    schedule_forgetting(cluster);
    on_change(cluster);
}

/* Worlds */

static void set_gauge(struct cluster *cluster, enum metric metric, const char *label, size_t value)
{
    if (cluster->setup.metrics != NULL) {
        metrics_set(metrics_series(cluster->setup.metrics, metric, (const char *[]){label}),
                    (int64_t)value);
    }
}

static void count_state(struct cluster *cluster)
{
    const struct registry_status status = registry_status(cluster->registry);
    const struct roster_counts counts = roster_counts(&cluster->roster);
    set_gauge(cluster, METRIC_SCHEMA_SERVERS, "known", status.known);
    set_gauge(cluster, METRIC_SCHEMA_SERVERS, "complete", status.watched);
    set_gauge(cluster, METRIC_MEMBERS, "listed", counts.listed);
    set_gauge(cluster, METRIC_MEMBERS, "unreached", counts.unreached);
    set_gauge(cluster, METRIC_MEMBERS, "left", counts.left);
}

static void publish(struct cluster *cluster)
{
    struct catalog *catalog = registry_snapshot(cluster->registry);
    for (int kind = 0; kind < SCHEMA_KINDS; kind++) {
        set_gauge(cluster, METRIC_CATALOG, schema_request_kind((enum schema_kind)kind),
                  catalog_count(catalog, (enum schema_kind)kind));
    }
    if (!cluster->published) {
        log_info(cluster->setup.log, MODULE, "the cluster is known; groups=%zu measures=%zu",
                 catalog_count(catalog, SCHEMA_GROUP), catalog_count(catalog, SCHEMA_MEASURE));
        loop_timer_stop(&cluster->remind);
    }
    cluster->published = true;
    cluster->roster_changed = false;
    cluster->setup.on_world(cluster->setup.owner,
                            world_new(catalog, roster_copy(&cluster->roster), cluster->roster.count,
                                      cluster->roster.changed_at));
}

static void run_settle(struct loop_timer *timer)
{
    struct cluster *cluster = container_of(timer, struct cluster, settle);
    follow_members(cluster);
    follow_servers(cluster);
    count_state(cluster);
    if (!registry_status(cluster->registry).complete) {
        return;
    }
    const bool catalog_changed = registry_take_change(cluster->registry);
    if (catalog_changed || cluster->roster_changed || !cluster->published) {
        publish(cluster);
    }
}

/* What is missing */

static bool no_node(const struct cluster *cluster, struct error *why)
{
    const size_t places = discovery_count(cluster->discovery);
    const bool is_file = cluster->setup.options->node_discovery_mode == DISCOVERY_FILE;
    const char *source = is_file ? cluster->setup.options->node_discovery_file_path : "DNS";
    if (discovery_error(cluster->discovery)->code != ERROR_NONE) {
        return error_set(why, ERROR_UNAVAILABLE, "the list of nodes cannot be used: %s",
                         discovery_error(cluster->discovery)->text);
    }
    if (places == 0) {
        return error_set(why, ERROR_UNAVAILABLE, "%s lists no nodes: expected one at least%s",
                         source, is_file ? " below the key nodes, with its grpc_address" : "");
    }
    const struct place *first = discovery_at(cluster->discovery, 0);
    return error_set(
        why, ERROR_UNAVAILABLE, "none of the %zu listed nodes has said who it is; %s: %s", places,
        place_address(first),
        place_error(first)->text[0] == '\0' ? "not answered yet" : place_error(first)->text);
}

bool cluster_is_ready(const struct cluster *cluster, struct error *why)
{
    if (cluster->published) {
        return true;
    }
    const struct registry_status status = registry_status(cluster->registry);
    size_t reached = 0;
    for (size_t i = 0; i < discovery_count(cluster->discovery); i++) {
        reached += place_node(discovery_at(cluster->discovery, i)) != NULL ? 1 : 0;
    }
    if (reached == 0) {
        return no_node(cluster, why);
    }
    if (status.known == 0) {
        return error_set(why, ERROR_UNAVAILABLE,
                         "no property schema nodes found among %zu nodes: expected one with "
                         "ROLE_META and a schema address",
                         reached);
    }
    return error_set(why, ERROR_UNAVAILABLE,
                     "no complete lists from any of %zu schema servers yet; %s: %s", status.known,
                     status.last_server, status.last_why);
}

static void run_remind(struct loop_timer *timer)
{
    struct cluster *cluster = container_of(timer, struct cluster, remind);
    struct error why;
    if (!cluster_is_ready(cluster, &why)) {
        log_warn(cluster->setup.log, MODULE, "waiting for the cluster; missing=%s", why.text);
        loop_timer_start(timer, REMIND_MS);
    }
}

/* Life */

struct cluster *cluster_open(const struct cluster_setup *setup, struct error *err)
{
    struct cluster *cluster = own_array(1, sizeof *cluster);
    cluster->setup = *setup;
    loop_timer_init(&cluster->settle, setup->loop, run_settle);
    loop_timer_init(&cluster->forget, setup->loop, run_forget);
    loop_timer_init(&cluster->remind, setup->loop, run_remind);
    cluster->registry = registry_open(&(struct registry_setup){.loop = setup->loop,
                                                               .options = setup->options,
                                                               .log = setup->log,
                                                               .charge = setup->charge,
                                                               .live = setup->live,
                                                               .on_change = on_change,
                                                               .on_return = on_return,
                                                               .owner = cluster});
    cluster->discovery = discovery_open(&(struct place_setup){.loop = setup->loop,
                                                              .options = setup->options,
                                                              .log = setup->log,
                                                              .charge = setup->charge,
                                                              .live = setup->live,
                                                              .on_change = on_change,
                                                              .owner = cluster},
                                        err);
    if (cluster->discovery == NULL) {
        cluster_close(&cluster);
        return NULL;
    }
    loop_timer_start(&cluster->remind, REMIND_MS);
    return cluster;
}

static void reap(void *object)
{
    struct cluster *cluster = object;
    roster_fini(&cluster->roster);
    free(cluster);
}

void cluster_close(struct cluster **cluster)
{
    struct cluster *closed = *cluster;
    *cluster = NULL;
    if (closed == NULL) {
        return;
    }
    discovery_close(&closed->discovery);
    registry_close(&closed->registry);
    loop_timer_fini(&closed->settle);
    loop_timer_fini(&closed->forget);
    loop_timer_fini(&closed->remind);
    loop_reap(closed->setup.loop, closed, reap);
}
