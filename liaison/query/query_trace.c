// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/query_trace.h"

#include "liaison/loop.h"
#include "liaison/own.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

struct text {
    char bytes[2048];
    size_t used;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What does not fit is left out. */
static void add(struct text *text, const char *format, ...)
{
    size_t room = sizeof text->bytes - text->used;
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(text->bytes + text->used, room, format, arguments);
    va_end(arguments);
    text->used += len < 0 ? 0 : (size_t)len < room ? (size_t)len : room - 1;
}

static void add_selectors(struct text *text, const struct request_group *group)
{
    add(text, "%s%.*s:[", text->used == 0 ? "" : " ", SLICE_ARG(group->name));
    for (size_t i = 0; i < group->selector_count; i++) {
        add(text, "%s%.*s", i == 0 ? "" : " ", SLICE_ARG(group->selectors[i]));
    }
    add(text, "]");
}

static int by_name(const void *a, const void *b)
{
    const struct request_group *const *group_a = a;
    const struct request_group *const *group_b = b;
    /* strings of the message: a NUL follows */
    return strcmp((const char *)(*group_a)->name.ptr, (const char *)(*group_b)->name.ptr);
}

void query_trace_tag_selectors(struct trace_span *span, const char *key,
                               const struct request_group *groups, size_t group_count)
{
    const struct request_group **sorted = own_array(group_count + 1, sizeof *sorted);
    size_t count = 0;
    for (size_t i = 0; i < group_count; i++) {
        if (groups[i].selector_count > 0) {
            sorted[count++] = &groups[i];
        }
    }
    qsort(sorted, count, sizeof *sorted, by_name);
    struct text text = {.used = 0};
    for (size_t i = 0; i < count; i++) {
        add_selectors(&text, sorted[i]);
    }
    free(sorted);
    trace_tag(span, key, "map[%.*s]", (int)text.used, text.bytes);
}

/* The text without what is put around it for the client's status alone. */
static void fail_execution(struct trace_span *execution, const struct error *failed)
{
    static const char suffix[] = ": invalid query message";
    struct error inner = *failed;
    size_t len = strlen(inner.text);
    size_t tail = sizeof suffix - 1;
    if (len > tail && strcmp(inner.text + len - tail, suffix) == 0) {
        inner.text[len - tail] = '\0';
    }
    trace_fail(execution, inner.text);
}

void query_trace_close(struct query_trace *trace, const struct query_results *results,
                       const struct error *failed, struct chain *response)
{
    if (trace->tree == NULL) {
        return;
    }
    if (failed != NULL) {
        fail_execution(trace->execution, failed);
    }
    trace_end(trace->execution, loop_wall_ns());
    trace_tag(trace->root, results->name, "%zu", failed == NULL ? results->count : 0);
    if (failed != NULL) {
        trace_fail(trace->root, "sub span error");
    }
    trace_end(trace->root, loop_wall_ns());
    trace_put(trace->tree, response);
}
