// SPDX-License-Identifier: Apache-2.0
/*
 * The watch stream of one schema server: a question goes out, a replay comes back and ends with
 * REPLAY_DONE; live events come in between. One question at a time.
 */
#pragma once

#include "liaison/http2/link.h"
#include "liaison/log.h"
#include "proto/catalog.h"

struct schema_watch;

struct schema_watch_setup {
    struct loop *loop;     /* borrow */
    struct link *link;     /* borrow: outlives the watch */
    struct log *log;       /* borrow; may be NULL */
    struct charge *charge; /* borrow: outlives the loop's reaping */
    /* Live or replayed, whole; delete_time 0 = live. */
    void (*on_object)(void *owner, const Banyandb__Property__V1__Property *property,
                      int64_t delete_time);
    /* Of a replay that schema_watch_compare asked for; no source in it. */
    void (*on_digest)(void *owner, const Banyandb__Property__V1__Property *property,
                      int64_t delete_time);
    void (*on_digests_done)(void *owner);
    /* Last; the watch must not be used afterwards. */
    void (*on_end)(void *owner, const struct error *why);
    void *owner; /* borrow */
};

/* Opens the stream and asks nothing yet: from now on the server tells live events. */
struct schema_watch *schema_watch_open(const struct schema_watch_setup *setup);
/* No event comes any more. NULLs the pointer; NULL is a no-op. */
void schema_watch_close(struct schema_watch **watch);

/* A replay is still coming. */
bool schema_watch_is_busy(const struct schema_watch *watch);
/* What is newer than this revision, 0 = everything. Not while it is busy. */
void schema_watch_news(struct schema_watch *watch, int64_t revision);
/* The digests of everything. Not while it is busy. */
void schema_watch_compare(struct schema_watch *watch);
