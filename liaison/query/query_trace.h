// SPDX-License-Identifier: Apache-2.0
/*
 * The upper part of a traced query's tree, the same for all kinds of jobs:
 *
 *     <root>                     request, then how many results
 *       <execution>              what is executed; failed when the execution was
 *         …                      the kind's own spans
 *
 * An execution that fails is answered OK with the failed trace and nothing else: clients of the Go
 * liaison look there. Refusals before the execution are plain errors. Untraced: all of it does
 * nothing.
 */
#pragma once

#include "frame/error.h"
#include "proto/request_group.h"
#include "proto/trace.h"

struct query_trace {
    struct trace *tree;           /* borrow: region; NULL: not traced */
    struct trace_span *root;      /* borrow: region */
    struct trace_span *execution; /* borrow: region; NULL until it begins */
};

/* `request` is told as JSON. */
void query_trace_open(struct query_trace *trace, struct arena *arena, const char *root,
                      const char *request);
/* Returns the execution's span, for its tags. */
struct trace_span *query_trace_execute(struct query_trace *trace, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline bool query_trace_is_executing(const struct query_trace *trace)
{
    return trace->execution != NULL;
}
/* The groups' stages, as Go prints a map of lists. */
void query_trace_tag_selectors(struct trace_span *span, const char *key,
                               const struct request_group *groups, size_t group_count);
struct query_results {
    const char *name; /* tag of the root for their number */
    size_t count;
};
/* Ends what is open and appends the trace to the response. `failed` may be NULL. */
void query_trace_close(struct query_trace *trace, const struct query_results *results,
                       const struct error *failed, struct chain *response);
