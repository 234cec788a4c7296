// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/query_trace.h"

#include "liaison/loop.h"

#include <stdarg.h>
#include <stdio.h>

void query_trace_open(struct query_trace *trace, struct arena *arena, const char *root,
                      const char *request)
{
    trace->tree = trace_open(arena, loop_wall_ns());
    trace->root = trace_span(trace->tree, NULL, loop_wall_ns(), "%s", root);
    trace_tag_bytes(trace->root, "request", slice_str(request));
}

struct trace_span *query_trace_execute(struct query_trace *trace, const char *format, ...)
{
    char name[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    trace->execution = trace_span(trace->tree, trace->root, loop_wall_ns(), "%s", name);
    return trace->execution;
}

void query_trace_close(struct query_trace *trace, const struct query_results *results,
                       const struct error *failed, struct chain *response)
{
    if (trace->tree == NULL) {
        return;
    }
    if (failed != NULL) {
        trace_fail(trace->execution, failed->text);
    }
    trace_end(trace->execution, loop_wall_ns());
    trace_tag(trace->root, results->name, "%zu", failed == NULL ? results->count : 0);
    if (failed != NULL) {
        trace_fail(trace->root, "sub span error");
    }
    trace_end(trace->root, loop_wall_ns());
    trace_put(trace->tree, response);
}
