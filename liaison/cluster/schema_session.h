// SPDX-License-Identifier: Apache-2.0
/*
 * The conversation with one schema server.
 *
 *     DOWN ─connect, open the watch─▶ LISTING ─five lists are in─▶ WATCHING ─▶ (lost) DOWN
 *
 * The watch stream is opened before the lists are asked for, because a server tells live events
 * from then on: what changes while the lists travel is not missed. The watch's first request, for
 * everything newer than the lists, follows them.
 *
 * A session knows nothing of catalogs: it hands every object on, live or deleted.
 */
#pragma once

#include "liaison/http2/link.h"
#include "liaison/log.h"
#include "liaison/options/options.h"
#include "proto/catalog.h"

enum schema_session_state {
    SCHEMA_SESSION_DOWN,     /* waits for the back-off timer */
    SCHEMA_SESSION_LISTING,  /* link and lists are on their way; guarded by the lists' deadline */
    SCHEMA_SESSION_WATCHING, /* live events come; guarded by a health check every 10 s */
};

struct schema_session;

struct schema_session_events {
    /* From a list, a replay or live. delete_time 0 = live. `asked`: answers schema_session_fetch.
     */
    void (*on_object)(void *owner, struct schema_session *session,
                      const Banyandb__Property__V1__Property *property, int64_t delete_time,
                      bool asked);
    /* One entry of a replay that schema_session_compare asked for: no source in it. */
    void (*on_digest)(void *owner, struct schema_session *session,
                      const Banyandb__Property__V1__Property *property, int64_t delete_time);
    void (*on_digests_done)(void *owner, struct schema_session *session);
    /* The lists are complete, or the session went down. */
    void (*on_state)(void *owner, struct schema_session *session);
};

struct schema_session_setup {
    struct loop *loop;                          /* borrow */
    const struct options *options;              /* borrow */
    struct log *log;                            /* borrow; may be NULL */
    struct charge *charge;                      /* borrow: outlives the loop's reaping */
    struct link_live *live;                     /* borrow; may be NULL */
    const char *name;                           /* borrow during schema_session_open */
    const char *address;                        /* borrow during schema_session_open */
    const struct schema_session_events *events; /* borrow: outlives the session */
    void *owner;                                /* borrow */
};

struct schema_session *schema_session_open(const struct schema_session_setup *setup);
void schema_session_close(struct schema_session **session);

const char *schema_session_name(const struct schema_session *session);
const char *schema_session_address(const struct schema_session *session);
enum schema_session_state schema_session_state(const struct schema_session *session);
/* Why it is DOWN; text "" before the first failure. */
const struct error *schema_session_error(const struct schema_session *session);

/* Asks for what is newer than this revision (0 = everything) on the watch. A session that is not
 * watching, or still answers the last request, is asked nothing: false. */
bool schema_session_news(struct schema_session *session, int64_t revision);
/* The same for the digests of everything. */
bool schema_session_compare(struct schema_session *session);
/* Lists one object by id; it comes as on_object. */
void schema_session_fetch(struct schema_session *session, enum schema_kind kind, const char *id);
