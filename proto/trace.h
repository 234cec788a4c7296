// SPDX-License-Identifier: Apache-2.0
/*
 * A query's trace in the making: a tree of spans in the query's region, encoded as it closes.
 *
 *   Trace  1 trace_id · 2 spans · 3 error
 *   Span   1 start_time · 2 end_time · 3 error · 4 tags {1 key, 2 value} · 5 message · 6 children
 *          7 duration (ns)
 *
 * A span is encoded when it ends, as pieces of its parent's list, so nothing recurses: parents end
 * after their children. The traces of data nodes come encoded and stay where they are until all of
 * it is written, once, into the response. Times are nanoseconds since the epoch.
 */
#pragma once

#include "frame/chain.h"
#include "merge/arena.h"

struct trace;
struct trace_span;

/* More children than this are counted in a tag only, as upstream's tracer does. */
#define TRACE_MAX_CHILDREN 20

/* trace_id is the time of its beginning, RFC 3339. */
struct trace *trace_open(struct arena *arena, int64_t now);

/* A span below `parent`, or the root (NULL). NULL trace: NULL, and every call below takes a NULL
 * span and does nothing, so callers need not ask whether the query is traced. */
struct trace_span *trace_span(struct trace *trace, struct trace_span *parent, int64_t now,
                              const char *message, ...) __attribute__((format(printf, 4, 5)));

void trace_tag(struct trace_span *span, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for bytes that may hold anything; not cut. Bytes that are not UTF-8 are replaced. */
void trace_tag_bytes(struct trace_span *span, const char *key, struct slice value);

/* Marks span and trace as failed, and adds the tag error_msg; only the first time. */
void trace_fail(struct trace_span *span, const char *text);

/* Adds the root spans of a node's encoded common.v1.Trace, which outlives the trace. A failed one
 * fails the span; one that a client could not read, malformed, nested too deep or with a text
 * that is not UTF-8, counts as ignored. */
void trace_attach(struct trace_span *span, struct slice trace);

/* So many children more than are shown. */
void trace_ignore(struct trace_span *span, size_t children);

void trace_end(struct trace_span *span, int64_t now);

/* Appends it, with all spans that have ended, to a response as field 2, which it is in
 * QueryResponse and TopNResponse. */
void trace_put(struct trace *trace, struct chain *response);
