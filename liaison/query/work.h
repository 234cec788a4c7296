// SPDX-License-Identifier: Apache-2.0
/*
 * What differs between kinds of jobs: the steps that a query (query.h) takes on its way.
 *
 *     parse ─▶ gate ─▶ plan ─▶ open ─▶ ask ─▶ answer, take … ─▶ turn … ─▶ close
 *
 * A work is the kind's own struct, which begins with this one, in the query's region. It never ends
 * the query by itself: each step returns, and the query goes on or ends. False: err says why. What
 * parse and plan refuse is told to the client as it is; what fails later is wrapped first (`wrap`).
 */
#pragma once

#include "liaison/query/broadcast.h"
#include "liaison/query/query_trace.h"
#include "merge/merge.h"
#include "proto/request.h"

struct round;
struct rounds;
struct work;

struct work_ops {
    size_t size;         /* of the kind's struct */
    const char *method;  /* label of the metrics */
    const char *slow;    /* how the log names one that took long */
    const char *root;    /* of its trace */
    const char *results; /* tag of the trace's root for their number */
    const char *refusal; /* before a text that says why nobody can be asked; "" = nothing */

    /* Client's bytes → request; fills what the work tells. */
    bool (*parse)(struct work *work, struct slice bytes, struct error *err);
    /* May be asked again later, with the world as it is then. NULL: goes on at once. */
    enum request_step (*gate)(struct work *work, bool may_wait);
    bool (*plan)(struct work *work, struct error *err);
    /* Nodes are chosen, and a round comes to the front (`front`): makes what takes its answers. How
     * many calls may be open at a time. */
    size_t (*open)(struct work *work);
    /* The round's first questions to the nodes; more may be asked from answer. */
    void (*ask)(struct work *work, struct round *round);
    /* May one more round be asked ahead? Then sets its slice and says how many calls may be open.
     * 0, or NULL: no. */
    size_t (*ahead)(struct work *work, struct round *round);
    /* The request as JSON, for the trace; freed by the caller. */
    char *(*describe)(const struct work *work);
    /* A node's message of this size is about to be received; what it begins with tells enough to
     * refuse it, or not (inbox.h). NULL: its size alone counts. */
    bool (*admit)(struct work *work, const struct fanout_source *source, size_t declared,
                  struct slice head, struct error *err);
    /* One node's body; the message is borrowed until it is taken in. */
    bool (*answer)(struct work *work, const struct fanout_source *source, struct msg *msg,
                   struct slice body, struct error *err);
    /* Takes it in, as far as the allowance reaches; other answers come when it is DONE. */
    enum progress (*take)(struct work *work, const struct fanout_source *source, size_t *left,
                          struct error *err);
    /* All calls have ended; `failed` (may be NULL) says which failed, or that something did not
     * fit: true when it is to be asked again, from open on, in another way. Otherwise `failed` may
     * tell more now. NULL: never. */
    bool (*again)(struct work *work, struct error *failed);
    /* All nodes have answered, or `failed` (may be NULL) says which did not, or that there are none
     * to ask. NULL: nothing to do. */
    void (*answered)(struct work *work, const struct error *failed);
    /* A share of the way from answers to the response, some milliseconds long. FED: more is to be
     * asked, from open on. */
    enum merge_state (*turn)(struct work *work, struct error *err);
    void (*wrap)(const struct work *work, struct error *err);
    /* Gives back what it holds besides the region. NULL: nothing. */
    void (*close)(struct work *work);
};

struct work {
    const struct work_ops *ops;

    /* The query's, for the work's life. */
    const struct options *options; /* borrow: outlives it */
    struct arena *arena;           /* borrow */
    struct chain *chain;           /* borrow: the response so far */
    struct charge *charge;         /* borrow */
    struct executor *executor;     /* borrow */
    const struct world *world;     /* borrow: from gate on */
    struct broadcast broadcast;    /* from open on */
    struct rounds *rounds;         /* borrow: the query's */
    struct round *front;           /* borrow: of them; whose answers are taken in */
    size_t limit;                  /* what answers to it may make the query hold, besides those that
                                    * are ahead; at first its budget */
    size_t spare;                  /* what those that are ahead may hold */
    struct query_trace trace_tree; /* after parse, when it is traced */
    size_t promised;               /* bytes of nodes' traces, with which the response will end */

    /* What the work tells, after parse. */
    const char *name; /* borrow: region; NULL: not parsed */
    bool trace;
    size_t group_count;
    const struct request_group *groups; /* borrow: region */
    int64_t begin;                      /* of the range, ns since the epoch */
    bool *known;                        /* borrow: region; which of the groups there are */
    /* After the last turn. */
    size_t result_count;
    size_t frames[2];        /* decoded: of version 3, of version 4 */
    size_t slices;           /* of the range, if it was asked for in parts */
    size_t slices_ahead;     /* of those, asked before their turn */
    size_t bad_texts;        /* strings of the answer that are not UTF-8 */
    const char *approximate; /* borrow: static; what of the answer is, or NULL */
    bool crowded;            /* refused because the process holds too much */
};

/* In the region. */
struct work *work_new(const struct work_ops *ops, struct arena *arena);

/* What one query may hold. */
size_t work_budget(const struct work *work);
/* What it holds and has promised, but for rounds that are ahead. */
size_t work_held(const struct work *work);
/* RESOURCE_EXHAUSTED when it holds more, or when all queries together hold too much and this one
 * more than its share. */
bool work_check_budget(struct work *work, struct error *err) MUST_CHECK;
/* A node's trace of so many bytes is about to be kept until it is written into the response: both
 * are held then. False: it does not fit. */
bool work_keep_trace(struct work *work, size_t size) MUST_CHECK;
/* Likewise with a node's message of so many bytes to the front, before it is buffered. In both,
 * rounds that are ahead give way first. */
bool work_admit(struct work *work, const struct fanout_source *source, size_t declared,
                struct error *err) MUST_CHECK;
/* There is a message's room that nobody else needs, for a round that is ahead; those behind it give
 * way. */
bool work_admit_ahead(struct work *work, struct round *round, size_t declared) MUST_CHECK;
