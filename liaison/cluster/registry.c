// SPDX-License-Identifier: Apache-2.0
/*
 * Sessions come and go with the list of servers; the store stays. A compare runs over all sessions
 * at once and ends when each has answered, failed or run out of time.
 */
#include "liaison/cluster/registry.h"

#include "liaison/cluster/compare.h"
#include "liaison/cluster/schema_intake.h"
#include "liaison/cluster/schema_session.h"
#include "liaison/container_of.h"
#include "liaison/own.h"
#include "proto/catalog_tags.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MODULE          "SCHEMA"
#define COMPARE_EVERY   5
#define COMPARE_WAIT_MS 30000

struct slot {
    struct schema_session *session; /* own */
    bool comparing;                 /* its digests are awaited */
    bool was_down;
};

struct registry {
    struct registry_setup setup;
    struct schema_intake intake; /* the store, and what goes into it */
    bool changed;
    bool complete;
    size_t count;
    struct slot *slots; /* own */
    struct loop_timer sync;
    unsigned ticks;
    struct compare compare;
    size_t comparing; /* slots whose digests are awaited */
    bool all_heard;   /* no server failed in this compare */
    size_t fetched;
    size_t forgotten;
    struct loop_timer patience; /* of the compare */
};

static struct slot *slot_of(struct registry *registry, const struct schema_session *session)
{
    size_t i = 0;
    while (registry->slots[i].session != session) {
        i++;
    }
    return &registry->slots[i];
}

static void note_change(struct registry *registry)
{
    registry->changed = true;
    registry->setup.on_change(registry->setup.owner);
}

static void on_object(void *owner, struct schema_session *session,
                      const Banyandb__Property__V1__Property *property, int64_t delete_time,
                      bool asked)
{
    struct registry *registry = owner;
    const struct schema_intake_object told = {.property = property,
                                              .delete_time = delete_time,
                                              .node = schema_session_name(session),
                                              .asked = asked};
    if (schema_intake_object(&registry->intake, &told)) {
        note_change(registry);
    }
}

/* Compares */

static void fetch(void *owner, const struct compare_digest *digest)
{
    struct registry *registry = owner;
    if (schema_intake_wants(&registry->intake, digest->id, digest->updated_at)) {
        schema_session_fetch(registry->slots[digest->source].session, digest->kind, digest->id);
        registry->fetched++;
    }
}

static void forget(void *owner, const char *id)
{
    struct registry *registry = owner;
    if (catalog_store_forget(registry->intake.store, id) == CATALOG_CHANGED) {
        registry->forgotten++;
    }
}

/* Ends the compare without a look at what it has brought. */
static void stop_compare(struct registry *registry)
{
    loop_timer_stop(&registry->patience);
    compare_clear(&registry->compare);
    registry->comparing = 0;
    for (size_t i = 0; i < registry->count; i++) {
        registry->slots[i].comparing = false;
    }
}

static void finish_compare(struct registry *registry)
{
    registry->fetched = 0;
    registry->forgotten = 0;
    compare_run(&registry->compare, registry->intake.store,
                &(struct compare_actions){.fetch = fetch,
                                          .forget = registry->all_heard ? forget : NULL,
                                          .owner = registry});
    if (registry->fetched + registry->forgotten > 0) {
        log_info(registry->setup.log, MODULE,
                 "the compare with the schema servers found what no event had told; fetched=%zu "
                 "forgotten=%zu",
                 registry->fetched, registry->forgotten);
    }
    stop_compare(registry);
    if (registry->forgotten > 0) {
        note_change(registry);
    }
}

static void end_comparing(struct registry *registry, struct slot *slot, bool heard)
{
    if (!slot->comparing) {
        return;
    }
    slot->comparing = false;
    registry->all_heard = registry->all_heard && heard;
    if (--registry->comparing == 0) {
        finish_compare(registry);
    }
}

static void run_patience(struct loop_timer *timer)
{
    struct registry *registry = container_of(timer, struct registry, patience);
    registry->all_heard = false;
    finish_compare(registry);
}

static void start_compare(struct registry *registry)
{
    stop_compare(registry);
    registry->all_heard = true;
    for (size_t i = 0; i < registry->count; i++) {
        struct slot *slot = &registry->slots[i];
        slot->comparing = schema_session_compare(slot->session);
        registry->comparing += slot->comparing ? 1 : 0;
        registry->all_heard = registry->all_heard && slot->comparing;
    }
    if (registry->comparing > 0) {
        loop_timer_start(&registry->patience, COMPARE_WAIT_MS);
    }
}

static void on_digest(void *owner, struct schema_session *session,
                      const Banyandb__Property__V1__Property *property, int64_t delete_time)
{
    struct registry *registry = owner;
    struct slot *slot = slot_of(registry, session);
    const struct catalog_tags tags = catalog_tags_of(property);
    if (tags.kind == SCHEMA_KINDS) {
        return;
    }
    if (schema_intake_digest(&registry->intake, property, delete_time)) {
        note_change(registry);
    }
    if (slot->comparing) {
        compare_add(&registry->compare,
                    &(struct compare_digest){.id = property->id,
                                             .kind = tags.kind,
                                             .updated_at = tags.updated_at,
                                             .delete_time = delete_time,
                                             .source = (size_t)(slot - registry->slots)});
    }
}

static void on_digests_done(void *owner, struct schema_session *session)
{
    struct registry *registry = owner;
    end_comparing(registry, slot_of(registry, session), true);
}

/* Asking for news */

static void ask_news(struct registry *registry)
{
    const int64_t revision = catalog_store_revision(registry->intake.store);
    for (size_t i = 0; i < registry->count; i++) {
        schema_session_news(registry->slots[i].session, revision);
    }
}

static void start_sync(struct registry *registry)
{
    const int64_t interval = registry->setup.options->schema_property_client_sync_interval;
    if (interval > 0) {
        loop_timer_start(&registry->sync, duration_ms(interval));
    }
}

static void run_sync(struct loop_timer *timer)
{
    struct registry *registry = container_of(timer, struct registry, sync);
    if (++registry->ticks % COMPARE_EVERY == 0) {
        start_compare(registry);
    } else {
        ask_news(registry);
    }
    start_sync(registry);
}

static void on_session(void *owner, struct schema_session *session)
{
    struct registry *registry = owner;
    struct slot *slot = slot_of(registry, session);
    if (schema_session_state(session) == SCHEMA_SESSION_WATCHING) {
        registry->changed = registry->changed || !registry->complete;
        registry->complete = true;
        schema_session_news(session, catalog_store_revision(registry->intake.store));
        if (slot->was_down) {
            slot->was_down = false;
            registry->setup.on_return(registry->setup.owner, schema_session_name(session));
        }
    } else {
        slot->was_down = true;
        end_comparing(registry, slot, false);
    }
    registry->setup.on_change(registry->setup.owner);
}

/* Servers */

static const struct schema_session_events session_events = {
    .on_object = on_object,
    .on_digest = on_digest,
    .on_digests_done = on_digests_done,
    .on_state = on_session,
};

static bool is_listed(const struct schema_session *session, const struct registry_server *servers,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(schema_session_name(session), servers[i].name) == 0 &&
            strcmp(schema_session_address(session), servers[i].address) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_session(const struct registry *registry, const struct registry_server *server)
{
    for (size_t i = 0; i < registry->count; i++) {
        if (is_listed(registry->slots[i].session, server, 1)) {
            return true;
        }
    }
    return false;
}

static void add_session(struct registry *registry, const struct registry_server *server)
{
    registry->slots = own_grow(registry->slots, registry->count + 1, sizeof *registry->slots);
    registry->slots[registry->count++] = (struct slot){
        .session = schema_session_open(&(struct schema_session_setup){
            .loop = registry->setup.loop,
            .options = registry->setup.options,
            .log = registry->setup.log,
            .charge = registry->setup.charge,
            .live = registry->setup.live,
            .name = server->name,
            .address = server->address,
            .events = &session_events,
            .owner = registry,
        }),
    };
}

/* Slots move when one goes, so a running compare ends here; the next one is not far. */
void registry_follow(struct registry *registry, const struct registry_server *servers, size_t count)
{
    for (size_t i = registry->count; i-- > 0;) {
        if (!is_listed(registry->slots[i].session, servers, count)) {
            stop_compare(registry);
            schema_session_close(&registry->slots[i].session);
            registry->slots[i] = registry->slots[--registry->count];
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!has_session(registry, &servers[i])) {
            add_session(registry, &servers[i]);
        }
    }
}

/* Life */

struct registry *registry_open(const struct registry_setup *setup)
{
    struct registry *registry = own_array(1, sizeof *registry);
    registry->setup = *setup;
    schema_intake_init(&registry->intake, setup->log);
    loop_timer_init(&registry->sync, setup->loop, run_sync);
    loop_timer_init(&registry->patience, setup->loop, run_patience);
    start_sync(registry);
    return registry;
}

static void reap(void *object)
{
    struct registry *registry = object;
    schema_intake_fini(&registry->intake);
    free(registry->slots);
    free(registry);
}

void registry_close(struct registry **registry)
{
    struct registry *closed = *registry;
    *registry = NULL;
    if (closed == NULL) {
        return;
    }
    registry_follow(closed, NULL, 0);
    compare_clear(&closed->compare);
    loop_timer_fini(&closed->sync);
    loop_timer_fini(&closed->patience);
    loop_reap(closed->setup.loop, closed, reap);
}

struct registry_status registry_status(const struct registry *registry)
{
    struct registry_status status = {.known = registry->count,
                                     .complete = registry->complete,
                                     .last_why = "",
                                     .last_server = ""};
    for (size_t i = 0; i < registry->count; i++) {
        const struct schema_session *session = registry->slots[i].session;
        if (schema_session_state(session) == SCHEMA_SESSION_WATCHING) {
            status.watched++;
        } else if (schema_session_error(session)->text[0] != '\0') {
            status.last_why = schema_session_error(session)->text;
            status.last_server = schema_session_name(session);
        }
    }
    return status;
}

bool registry_take_change(struct registry *registry)
{
    const bool changed = registry->changed;
    registry->changed = false;
    return changed;
}

struct catalog *registry_snapshot(const struct registry *registry)
{
    return catalog_snapshot(registry->intake.store);
}
