// SPDX-License-Identifier: Apache-2.0
#include "proto/trace.h"

#include "frame/wire.h"
#include "proto/common.pb-c.h"
#include "proto/depth.h"
#include "proto/pbw.h"
#include "proto/utf8.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_SECOND 1000000000

/* Encoded bytes: what stands before a span's children, what stands behind them, or a node's span.
 * They are written where they stand in the list, once, at the end. */
struct piece {
    struct piece *next; /* borrow: region */
    struct slice bytes; /* borrow: region */
};

struct pieces {
    struct piece *first;
    struct piece **tail; /* NULL: it is empty */
    size_t len;          /* bytes */
};

struct trace {
    struct arena *arena; /* borrow: outlives it */
    struct slice id;
    bool failed;
    struct pieces spans;
};

struct trace_span {
    struct trace *trace;       /* borrow */
    struct trace_span *parent; /* borrow */
    struct piece *place;       /* borrow: where it will stand among its siblings; NULL: left out */
    int64_t began;
    bool failed;
    struct slice message;
    struct pieces tags;
    struct pieces children;
    size_t child_count;
    size_t ignored; /* children beyond the limit */
};

static struct piece *pieces_add(struct pieces *pieces, struct arena *arena, struct slice bytes)
{
    struct piece *piece = arena_new(arena, struct piece);
    piece->bytes = bytes;
    if (pieces->tail == NULL) {
        pieces->tail = &pieces->first;
    }
    *pieces->tail = piece;
    pieces->tail = &piece->next;
    pieces->len += bytes.len;
    return piece;
}

/* Behind those that are there. */
static void pieces_join(struct pieces *pieces, const struct pieces *more)
{
    if (more->first == NULL) {
        return;
    }
    if (pieces->tail == NULL) {
        pieces->tail = &pieces->first;
    }
    *pieces->tail = more->first;
    pieces->tail = more->tail;
    pieces->len += more->len;
}

/* Into `pieces`, behind one of them. */
static void pieces_insert(struct pieces *pieces, struct piece *place, const struct pieces *more)
{
    if (pieces->tail == &place->next) {
        pieces->tail = more->tail;
    }
    *more->tail = place->next;
    place->next = more->first;
    pieces->len += more->len;
}

/* A varint field; nothing when it is 0, as proto3 has it. */
static size_t varint_size(uint32_t number, uint64_t value)
{
    return value == 0 ? 0 : pbw_key_size(number) + pbw_varint_size(value);
}

static uint8_t *varint_write(uint8_t *at, uint32_t number, uint64_t value)
{
    return value == 0 ? at : pbw_varint(pbw_key(at, number, PBW_VARINT), value);
}

static size_t time_size(int64_t at)
{
    return varint_size(1, (uint64_t)(at / NS_PER_SECOND)) +
           varint_size(2, (uint64_t)(at % NS_PER_SECOND));
}

static uint8_t *time_write(uint8_t *to, uint32_t number, int64_t at)
{
    to = pbw_varint(pbw_key(to, number, PBW_BYTES), time_size(at));
    to = varint_write(to, 1, (uint64_t)(at / NS_PER_SECOND));
    return varint_write(to, 2, (uint64_t)(at % NS_PER_SECOND));
}

/* RFC 3339 with nanoseconds, without trailing zeros of the fraction, as Go prints it. */
static struct slice time_text(struct arena *arena, int64_t at)
{
    time_t seconds = (time_t)(at / NS_PER_SECOND);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    char text[64];
    size_t len = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    if (at % NS_PER_SECOND != 0) {
        len += (size_t)snprintf(text + len, sizeof text - len, ".%09lld",
                                (long long)(at % NS_PER_SECOND));
        while (text[len - 1] == '0') {
            len--;
        }
    }
    text[len++] = 'Z';
    return arena_copy(arena, slice_of(text, len));
}

struct trace *trace_open(struct arena *arena, int64_t now)
{
    struct trace *trace = arena_new(arena, struct trace);
    trace->arena = arena;
    trace->id = time_text(arena, now);
    return trace;
}

static struct pieces *siblings_of(struct trace *trace, struct trace_span *parent)
{
    return parent == NULL ? &trace->spans : &parent->children;
}

/* A place among the parent's children, or NULL when it has too many. */
static struct piece *take_place(struct trace *trace, struct trace_span *parent)
{
    if (parent != NULL && parent->child_count >= TRACE_MAX_CHILDREN) {
        parent->ignored++;
        return NULL;
    }
    if (parent != NULL) {
        parent->child_count++;
    }
    return pieces_add(siblings_of(trace, parent), trace->arena, slice_of(NULL, 0));
}

/* What stands at a place: bytes, and pieces behind them. */
static void fill_place(struct trace *trace, struct trace_span *parent, struct piece *place,
                       struct slice bytes, const struct pieces *behind)
{
    struct pieces *siblings = siblings_of(trace, parent);
    place->bytes = bytes;
    siblings->len += bytes.len;
    pieces_insert(siblings, place, behind);
}

/* The key and the length of a field. */
static struct slice field_head(struct arena *arena, uint32_t number, size_t len)
{
    uint8_t *start = arena_alloc(arena, pbw_key_size(number) + pbw_varint_size(len), 1);
    const uint8_t *end = pbw_varint(pbw_key(start, number, PBW_BYTES), len);
    return slice_of(start, (size_t)(end - start));
}

/* A text that was cut may end within a character, and one of a node may hold anything: clients
 * refuse the whole answer for it. */
static struct slice readable(struct arena *arena, struct slice text)
{
    if (utf8_valid(text)) {
        return text;
    }
    char *replaced = utf8_replace(text);
    struct slice copy = arena_copy(arena, slice_str(replaced));
    free(replaced);
    return copy;
}

static struct slice print(struct arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

static struct slice print(struct arena *arena, const char *format, va_list arguments)
{
    char text[4096];
    int len = vsnprintf(text, sizeof text, format, arguments);
    size_t used = len < 0 ? 0 : (size_t)len < sizeof text ? (size_t)len : sizeof text - 1;
    return readable(arena, arena_copy(arena, slice_of(text, used)));
}

struct trace_span *trace_span(struct trace *trace, struct trace_span *parent, int64_t now,
                              const char *message, ...)
{
    if (trace == NULL) {
        return NULL;
    }
    struct trace_span *span = arena_new(trace->arena, struct trace_span);
    span->trace = trace;
    span->parent = parent;
    span->place = take_place(trace, parent);
    span->began = now;
    va_list arguments;
    va_start(arguments, message);
    span->message = print(trace->arena, message, arguments);
    va_end(arguments);
    return span;
}

void trace_tag_bytes(struct trace_span *span, const char *key, struct slice value)
{
    if (span == NULL) {
        return;
    }
    struct slice name = slice_str(key);
    value = readable(span->trace->arena, value);
    size_t len = pbw_bytes_size(1, name.len) + pbw_bytes_size(2, value.len);
    uint8_t *start = arena_alloc(span->trace->arena, pbw_bytes_size(4, len), 1);
    uint8_t *at = pbw_varint(pbw_key(start, 4, PBW_BYTES), len);
    at = pbw_bytes(pbw_bytes(at, 1, name), 2, value);
    pieces_add(&span->tags, span->trace->arena, slice_of(start, (size_t)(at - start)));
}

void trace_tag(struct trace_span *span, const char *key, const char *format, ...)
{
    if (span == NULL) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    trace_tag_bytes(span, key, print(span->trace->arena, format, arguments));
    va_end(arguments);
}

void trace_fail(struct trace_span *span, const char *text)
{
    if (span == NULL || span->failed) {
        return;
    }
    span->failed = true;
    span->trace->failed = true;
    trace_tag_bytes(span, "error_msg", slice_str(text));
}

static bool is_failed_span(struct slice span)
{
    struct wire wire = wire_of(span);
    struct wire_field field;
    bool failed = false;
    while (wire_next(&wire, &field) == WIRE_FIELD) {
        if (field.number == 3 && field.type == WIRE_VARINT) {
            failed = field.value != 0;
        }
    }
    return failed;
}

static void attach_span(struct trace_span *span, struct slice child)
{
    /* what a client could not read would cost it the whole answer */
    if (!depth_is_readable(child, &banyandb__common__v1__span__descriptor)) {
        span->ignored++;
        return;
    }
    struct trace *trace = span->trace;
    struct piece *place = take_place(trace, span);
    if (place != NULL) {
        struct pieces whole = {.first = NULL};
        pieces_add(&whole, trace->arena, child);
        fill_place(trace, span, place, field_head(trace->arena, 6, child.len), &whole);
    }
    if (is_failed_span(child)) {
        trace_fail(span, "sub span error");
    }
}

void trace_attach(struct trace_span *span, struct slice trace)
{
    if (span == NULL) {
        return;
    }
    struct wire wire = wire_of(trace);
    struct wire_field field;
    while (wire_next(&wire, &field) == WIRE_FIELD) {
        if (field.number == 2 && field.type == WIRE_BYTES) {
            attach_span(span, field.bytes);
        }
    }
}

void trace_ignore(struct trace_span *span, size_t children)
{
    if (span != NULL) {
        span->ignored += children;
    }
}

/* Its key, its length, and what stands before the tags; `more` bytes follow. */
static struct slice span_head(const struct trace_span *span, int64_t now, size_t more)
{
    const uint32_t number = span->parent == NULL ? 2 : 6; /* Trace.spans, Span.children */
    const size_t len = pbw_bytes_size(1, time_size(span->began)) +
                       pbw_bytes_size(2, time_size(now)) + varint_size(3, span->failed);
    const size_t size = pbw_bytes_size(number, len + more) - more;
    uint8_t *start = arena_alloc(span->trace->arena, size, 1);
    uint8_t *at = pbw_varint(pbw_key(start, number, PBW_BYTES), len + more);
    at = time_write(time_write(at, 1, span->began), 2, now);
    at = varint_write(at, 3, span->failed);
    assert((size_t)(at - start) == size);
    return slice_of(start, size);
}

static struct slice span_message(const struct trace_span *span)
{
    const size_t len = pbw_bytes_size(5, span->message.len);
    uint8_t *start = arena_alloc(span->trace->arena, len, 1);
    pbw_bytes(start, 5, span->message);
    return slice_of(start, len);
}

static struct slice span_duration(const struct trace_span *span, int64_t now)
{
    const uint64_t took = (uint64_t)(now - span->began);
    uint8_t *start = arena_alloc(span->trace->arena, varint_size(7, took) + 1, 1);
    return slice_of(start, (size_t)(varint_write(start, 7, took) - start));
}

void trace_end(struct trace_span *span, int64_t now)
{
    if (span == NULL) {
        return;
    }
    if (span->ignored > 0) {
        trace_tag(span, "ignored_child_spans", "%zu", span->ignored);
    }
    if (span->place == NULL) {
        return;
    }
    struct arena *arena = span->trace->arena;
    struct pieces rest = span->tags;
    pieces_add(&rest, arena, span_message(span));
    pieces_join(&rest, &span->children);
    pieces_add(&rest, arena, span_duration(span, now));
    fill_place(span->trace, span->parent, span->place, span_head(span, now, rest.len), &rest);
}

void trace_put(struct trace *trace, struct chain *response)
{
    uint8_t failed[2];
    const size_t failed_len = (size_t)(varint_write(failed, 3, trace->failed) - failed);
    const size_t len = pbw_bytes_size(1, trace->id.len) + trace->spans.len + failed_len;
    chain_append(response, field_head(trace->arena, 2, len));
    chain_append(response, field_head(trace->arena, 1, trace->id.len));
    chain_append(response, trace->id);
    for (const struct piece *piece = trace->spans.first; piece != NULL; piece = piece->next) {
        chain_append(response, piece->bytes);
    }
    chain_append(response, slice_of(failed, failed_len));
}
