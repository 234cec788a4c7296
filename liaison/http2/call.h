// SPDX-License-Identifier: Apache-2.0
/*
 * One RPC on a link, as the link sees it: nghttp2's callbacks, already looked up, come in here.
 * What the user sees is in link.h.
 */
#pragma once

#include "liaison/http2/link.h"
#include "liaison/http2/stream.h"

/* Of headers and of trailers; texts of errors may be long. */
#define CALL_HEADER_BYTES_MAX ((size_t)64 << 10)

/* OPEN → FAILING → ENDED; ENDED from OPEN too. */
enum call_state {
    CALL_OPEN,    /* messages go both ways; deadline timer */
    CALL_FAILING, /* the status is known, but on_end has to come from the loop: a deferred task */
    CALL_ENDED,   /* on_end was called, or the user cancelled; waits for the reaper */
};

/* The link, for its calls and its nghttp2 session. */
struct call_host {
    struct h2 h2;
    TAILQ_HEAD(, call) calls;
    size_t call_count;
    bool leaving;           /* GOAWAY came: no new calls */
    struct link_live *live; /* borrow */
    size_t max_message_bytes;
    const char *scheme;                          /* borrow: static */
    char *authority;                             /* own */
    void (*on_greeting)(struct call_host *host); /* SETTINGS came */
    void (*on_leaving)(struct call_host *host, const struct error *why);
};

/* link.c's part of call_open. */
struct call_host *link_host(struct link *link);

struct call {
    struct stream stream;   /* first: nghttp2's user data is its address */
    struct call_host *host; /* borrow: outlives its calls */
    TAILQ_ENTRY(call) next; /* in the host's list */
    struct call_events events;
    void *owner; /* borrow */
    enum call_state state;
    struct loop_timer deadline;
    struct loop_task failing;
    struct error status; /* for FAILING */
    struct chain unsent; /* then: a whole request of which nothing has left */
    struct headers trailers;
    bool answered; /* the peer has ended the stream */
    bool status_is_theirs;
    unsigned http_status; /* 0 until the first header block was complete */
};

/* Ends an OPEN call later in this turn. */
void call_fail_later(struct call *call, const struct error *status);

/* From nghttp2. `last` = END_STREAM. */
struct headers *call_block(struct call *call, bool last); /* where fields of this block go */
void call_on_block(struct call *call, bool last);
void call_on_data(struct call *call, struct slice chunk);
void call_on_data_end(struct call *call);
void call_on_stream_close(struct call *call, uint32_t http2_code);
void call_on_goaway(struct call *call, int32_t last_id, const struct error *why);
/* Ends it now. From a loop callback. */
void call_end(struct call *call, const struct error *status);
