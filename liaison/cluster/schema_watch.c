// SPDX-License-Identifier: Apache-2.0
/* The stream is never half-closed: the server would end it. */
#include "liaison/cluster/schema_watch.h"

#include "liaison/cluster/schema_request.h"
#include "liaison/own.h"
#include "proto/message_read.h"

#include <assert.h>

#define MODULE "SCHEMA"

/* What the running replay was asked for. */
enum replay { REPLAY_NONE, REPLAY_NEWS, REPLAY_DIGESTS };

struct schema_watch {
    struct schema_watch_setup setup;
    struct call *call; /* own */
    enum replay replay;
};

void schema_watch_close(struct schema_watch **watch)
{
    struct schema_watch *closed = *watch;
    *watch = NULL;
    if (closed != NULL) {
        call_cancel(&closed->call);
        loop_reap(closed->setup.loop, closed, free);
    }
}

static void finish_replay(struct schema_watch *watch)
{
    const enum replay finished = watch->replay;
    watch->replay = REPLAY_NONE;
    if (finished == REPLAY_DIGESTS) {
        watch->setup.on_digests_done(watch->setup.owner);
    }
}

static void take_event(struct schema_watch *watch,
                       const Banyandb__Schema__V1__WatchSchemasResponse *event)
{
    const struct schema_watch_setup *setup = &watch->setup;
    const int type = (int)event->event_type;
    if (type == BANYANDB__SCHEMA__V1__SCHEMA_EVENT_TYPE__SCHEMA_EVENT_TYPE_REPLAY_DONE) {
        finish_replay(watch);
        return;
    }
    if (event->property == NULL) {
        return;
    }
    const bool deleted = type == BANYANDB__SCHEMA__V1__SCHEMA_EVENT_TYPE__SCHEMA_EVENT_TYPE_DELETE;
    const int64_t delete_time = deleted ? event->delete_time : 0;
    if (event->metadata_only) {
        setup->on_digest(setup->owner, event->property, delete_time);
    } else {
        setup->on_object(setup->owner, event->property, delete_time);
    }
}

static void on_message(void *owner, struct call *call, struct msg *msg)
{
    struct schema_watch *watch = owner;
    struct error why;
    Banyandb__Schema__V1__WatchSchemasResponse *event =
        (Banyandb__Schema__V1__WatchSchemasResponse *)message_read(
            msg_bytes(msg), &banyandb__schema__v1__watch_schemas_response__descriptor, &why);
    msg_release(&msg);
    (void)call;
    if (event == NULL) {
        log_error(watch->setup.log, MODULE,
                  "an event of a schema server cannot be read and is skipped; error=%s", why.text);
        return;
    }
    take_event(watch, event);
    banyandb__schema__v1__watch_schemas_response__free_unpacked(event, NULL);
}

static void on_end(void *owner, struct call *call, const struct error *status)
{
    struct schema_watch *watch = owner;
    struct schema_watch *closed = watch;
    struct error why;
    (void)call;
    watch->call = NULL;
    schema_watch_close(&closed);
    error_set(&why, status->code == ERROR_NONE ? ERROR_UNAVAILABLE : status->code,
              "WatchSchemas: %s",
              status->code == ERROR_NONE ? "the server has ended the stream" : status->text);
    watch->setup.on_end(watch->setup.owner, &why);
}

struct schema_watch *schema_watch_open(const struct schema_watch_setup *setup)
{
    static const struct call_events events = {.on_message = on_message, .on_end = on_end};
    const struct call_options options = {
        .path = "/banyandb.schema.v1.SchemaUpdateService/WatchSchemas",
        .charge = setup->charge,
    };
    struct schema_watch *watch = own_array(1, sizeof *watch);
    watch->setup = *setup;
    watch->call = call_open(setup->link, &options, &events, watch);
    return watch;
}

bool schema_watch_is_busy(const struct schema_watch *watch)
{
    return watch->replay != REPLAY_NONE;
}

static void ask(struct schema_watch *watch, struct slice request, enum replay replay)
{
    assert(watch->replay == REPLAY_NONE);
    watch->replay = replay;
    call_send(watch->call, request, false);
    free((void *)(uintptr_t)request.ptr);
}

void schema_watch_news(struct schema_watch *watch, int64_t revision)
{
    ask(watch, schema_request_news(revision), REPLAY_NEWS);
}

void schema_watch_compare(struct schema_watch *watch)
{
    ask(watch, schema_request_digests(), REPLAY_DIGESTS);
}
