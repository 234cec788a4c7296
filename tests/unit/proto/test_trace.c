// SPDX-License-Identifier: Apache-2.0
/* Traces as protobuf-c reads them: the tree, tags, failures, and what nodes sent. */
#include "proto/measure.pb-c.h"
#include "proto/pbw.h"
#include "proto/trace.h"
#include "tests/unit/frame/unit.h"

#include <stdio.h>

static struct charge charge;
static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 1 << 20, NULL, &charge);
}

static void teardown(void)
{
    arena_fini(&arena);
    ck_assert_uint_eq(charge.total, 0);
}

/* As it stands in a response, in one piece. */
static struct slice put(struct trace *trace)
{
    struct chain chain;
    chain_init(&chain, NULL);
    trace_put(trace, &chain);
    uint8_t *bytes = arena_alloc(&arena, chain.len, 1);
    size_t at = 0;
    for (const struct chain_block *block = chain.first; block != NULL; block = block->next) {
        memcpy(bytes + at, block->bytes + block->begin, block->len);
        at += block->len;
    }
    ck_assert_uint_eq(at, chain.len);
    chain_fini(&chain);
    return slice_of(bytes, at);
}

static Banyandb__Common__V1__Trace *decode(struct trace *trace)
{
    const struct slice bytes = put(trace);
    Banyandb__Measure__V1__QueryResponse *response =
        banyandb__measure__v1__query_response__unpack(NULL, bytes.len, bytes.ptr);
    ck_assert_ptr_nonnull(response);
    Banyandb__Common__V1__Trace *message = response->trace;
    response->trace = NULL;
    banyandb__measure__v1__query_response__free_unpacked(response, NULL);
    ck_assert_ptr_nonnull(message);
    return message;
}

START_TEST(a_tree_of_two_levels)
{
    struct trace *trace = trace_open(&arena, 1700000000120000000);
    struct trace_span *root = trace_span(trace, NULL, 1700000000120000000, "root");
    trace_tag(root, "answer", "%d", 42);
    struct trace_span *first = trace_span(trace, root, 1700000000130000000, "child-%s", "a");
    struct trace_span *second = trace_span(trace, root, 1700000000140000000, "child-b");
    trace_end(second, 1700000000150000001);
    trace_end(first, 1700000000160000000);
    trace_end(root, 1700000001120000000);
    Banyandb__Common__V1__Trace *read = decode(trace);
    ck_assert_str_eq(read->trace_id, "2023-11-14T22:13:20.12Z");
    ck_assert(!read->error);
    ck_assert_uint_eq(read->n_spans, 1);
    const Banyandb__Common__V1__Span *span = read->spans[0];
    ck_assert_str_eq(span->message, "root");
    ck_assert_int_eq(span->duration, 1000000000);
    ck_assert_int_eq(span->start_time->seconds, 1700000000);
    ck_assert_int_eq(span->start_time->nanos, 120000000);
    ck_assert_int_eq(span->end_time->seconds, 1700000001);
    ck_assert_str_eq(span->tags[0]->key, "answer");
    ck_assert_str_eq(span->tags[0]->value, "42");
    ck_assert_uint_eq(span->n_children, 2);
    ck_assert_str_eq(span->children[0]->message, "child-a");
    ck_assert_int_eq(span->children[0]->duration, 30000000);
    ck_assert_int_eq(span->children[1]->duration, 10000001);
    banyandb__common__v1__trace__free_unpacked(read, NULL);
}
END_TEST

START_TEST(a_failure_is_told_once)
{
    struct trace *trace = trace_open(&arena, 5);
    struct trace_span *root = trace_span(trace, NULL, 5, "root");
    struct trace_span *child = trace_span(trace, root, 6, "child");
    trace_fail(child, "why");
    trace_fail(child, "why else");
    trace_end(child, 7);
    trace_end(root, 8);
    Banyandb__Common__V1__Trace *read = decode(trace);
    ck_assert(read->error);
    ck_assert(!read->spans[0]->error); /* parents are not marked for a child */
    const Banyandb__Common__V1__Span *failed = read->spans[0]->children[0];
    ck_assert(failed->error);
    ck_assert_uint_eq(failed->n_tags, 1);
    ck_assert_str_eq(failed->tags[0]->key, "error_msg");
    ck_assert_str_eq(failed->tags[0]->value, "why");
    banyandb__common__v1__trace__free_unpacked(read, NULL);
}
END_TEST

/* A node's trace with one root span, encoded. */
static struct slice node_trace(bool failed)
{
    struct trace *trace = trace_open(&arena, 1);
    struct trace_span *root = trace_span(trace, NULL, 1, "data-node");
    if (failed) {
        trace_fail(root, "broken");
    }
    trace_end(root, 2);
    Banyandb__Common__V1__Trace *message = decode(trace);
    uint8_t *bytes = arena_alloc(&arena, banyandb__common__v1__trace__get_packed_size(message), 1);
    const size_t len = banyandb__common__v1__trace__pack(message, bytes);
    banyandb__common__v1__trace__free_unpacked(message, NULL);
    return slice_of(bytes, len);
}

START_TEST(a_nodes_spans_become_children)
{
    struct trace *trace = trace_open(&arena, 5);
    struct trace_span *root = trace_span(trace, NULL, 5, "broadcast");
    trace_attach(root, node_trace(false));
    trace_attach(root, slice_of("\x12\x7f", 2)); /* a span that passes the end */
    trace_attach(root, node_trace(true));
    trace_end(root, 8);
    Banyandb__Common__V1__Trace *read = decode(trace);
    ck_assert_uint_eq(read->spans[0]->n_children, 2);
    ck_assert_str_eq(read->spans[0]->children[1]->message, "data-node");
    ck_assert(read->error);
    ck_assert(read->spans[0]->error);
    ck_assert_str_eq(read->spans[0]->tags[0]->value, "sub span error");
    banyandb__common__v1__trace__free_unpacked(read, NULL);
}
END_TEST

/* Clients of proto3 refuse a message for one bad string. */
START_TEST(texts_are_utf8)
{
    struct trace *trace = trace_open(&arena, 5);
    struct trace_span *root = trace_span(trace, NULL, 5, "of %s", "\xc3");
    trace_tag(root, "cut", "%.2s", "x\xc3\xbc");
    trace_tag_bytes(root, "bytes", slice_of("a\xff\0b", 4));
    trace_fail(root, "why \xe2\x82");
    trace_end(root, 8);
    Banyandb__Common__V1__Trace *read = decode(trace);
    const Banyandb__Common__V1__Span *span = read->spans[0];
    ck_assert_str_eq(span->message, "of \xef\xbf\xbd");
    ck_assert_str_eq(span->tags[0]->value, "x\xef\xbf\xbd");
    ck_assert_str_eq(span->tags[2]->value, "why \xef\xbf\xbd\xef\xbf\xbd");
    banyandb__common__v1__trace__free_unpacked(read, NULL);
}
END_TEST

START_TEST(spans_that_clients_cannot_read_are_left_out)
{
    struct trace *trace = trace_open(&arena, 5);
    struct trace_span *root = trace_span(trace, NULL, 5, "broadcast");
    trace_attach(root, slice_of("\x12\x03\x2a\x01\xff", 5));         /* a message, not UTF-8 */
    trace_attach(root, slice_of("\x12\x05\x32\x03\x2a\x01\xff", 7)); /* the same in a child */
    trace_attach(root, slice_of("\x12\x05\x22\x03\x0a\x09x", 7));    /* a tag that is cut */
    trace_attach(root, slice_of("\x12\x02\x2a\x00", 4));
    trace_end(root, 8);
    Banyandb__Common__V1__Trace *read = decode(trace);
    ck_assert_uint_eq(read->spans[0]->n_children, 1);
    ck_assert_str_eq(read->spans[0]->tags[0]->key, "ignored_child_spans");
    ck_assert_str_eq(read->spans[0]->tags[0]->value, "3");
    banyandb__common__v1__trace__free_unpacked(read, NULL);
}
END_TEST

/* Clients give up at 100 messages within each other, and a node's spans lie within some already. */
START_TEST(spans_that_are_nested_too_deep_are_left_out)
{
    struct trace *trace = trace_open(&arena, 5);
    struct trace_span *root = trace_span(trace, NULL, 5, "broadcast");
    struct slice span = slice_of("", 0);
    for (size_t levels = 1; levels <= 70; levels++) {
        const size_t len = pbw_bytes_size(6, span.len);
        uint8_t *bytes = arena_alloc(&arena, 2 * len, 1);
        const size_t whole = (size_t)(pbw_bytes(bytes, 2, span) - bytes);
        if (levels == 64 || levels == 65) {
            trace_attach(root, slice_of(bytes, whole));
        }
        bytes = arena_alloc(&arena, len, 1);
        pbw_bytes(bytes, 6, span);
        span = slice_of(bytes, len);
    }
    trace_end(root, 8);
    Banyandb__Common__V1__Trace *read = decode(trace);
    ck_assert_uint_eq(read->spans[0]->n_children, 1);
    ck_assert_str_eq(read->spans[0]->tags[0]->key, "ignored_child_spans");
    ck_assert_str_eq(read->spans[0]->tags[0]->value, "1");
    banyandb__common__v1__trace__free_unpacked(read, NULL);
}
END_TEST

START_TEST(too_many_children_are_counted)
{
    struct trace *trace = trace_open(&arena, 5);
    struct trace_span *root = trace_span(trace, NULL, 5, "root");
    for (int i = 0; i < TRACE_MAX_CHILDREN + 3; i++) {
        trace_end(trace_span(trace, root, 6, "child-%d", i), 7);
    }
    trace_ignore(root, 4);
    trace_ignore(NULL, 4);
    trace_end(root, 8);
    Banyandb__Common__V1__Trace *read = decode(trace);
    ck_assert_uint_eq(read->spans[0]->n_children, TRACE_MAX_CHILDREN);
    ck_assert_str_eq(read->spans[0]->tags[0]->key, "ignored_child_spans");
    ck_assert_str_eq(read->spans[0]->tags[0]->value, "7");
    banyandb__common__v1__trace__free_unpacked(read, NULL);
}
END_TEST

START_TEST(an_untraced_query_costs_nothing)
{
    struct trace_span *span = trace_span(NULL, NULL, 5, "root");
    ck_assert_ptr_null(span);
    trace_tag(span, "key", "value");
    trace_fail(span, "why");
    trace_attach(span, slice_of("", 0));
    trace_end(span, 6);
    ck_assert_uint_eq(arena.capacity, 0);
}
END_TEST

/* Spans end in any order below parents of any depth, between what nodes sent: all is where it
 * began, and the bytes are those that protobuf-c makes of what it reads. */
START_TEST(deep_trees_keep_their_order)
{
    struct trace *trace = trace_open(&arena, 5);
    struct trace_span *root = trace_span(trace, NULL, 5, "root");
    struct trace_span *a = trace_span(trace, root, 6, "a");
    struct trace_span *b = trace_span(trace, root, 6, "b");
    struct trace_span *a1 = trace_span(trace, a, 7, "a1");
    struct trace_span *b1 = trace_span(trace, b, 7, "b1");
    trace_attach(a1, node_trace(false));
    trace_tag(a1, "k", "v");
    struct trace_span *a2 = trace_span(trace, a, 7, "a2");
    trace_span(trace, a, 7, "never ended");
    trace_end(a2, 8);
    trace_end(a1, 9);
    trace_attach(b, node_trace(false));
    trace_end(b1, 9);
    trace_end(b, 10);
    trace_end(a, 10);
    trace_end(trace_span(trace, root, 6, "c"), 7);
    trace_end(root, 11);
    Banyandb__Common__V1__Trace *read = decode(trace);
    const Banyandb__Common__V1__Span *span = read->spans[0];
    ck_assert_uint_eq(span->n_children, 3);
    ck_assert_str_eq(span->children[0]->message, "a");
    ck_assert_uint_eq(span->children[0]->n_children, 2);
    ck_assert_str_eq(span->children[0]->children[0]->message, "a1");
    ck_assert_str_eq(span->children[0]->children[0]->tags[0]->value, "v");
    ck_assert_str_eq(span->children[0]->children[0]->children[0]->message, "data-node");
    ck_assert_str_eq(span->children[0]->children[1]->message, "a2");
    ck_assert_str_eq(span->children[1]->children[0]->message, "b1");
    ck_assert_str_eq(span->children[1]->children[1]->message, "data-node");
    ck_assert_str_eq(span->children[2]->message, "c");
    Banyandb__Measure__V1__QueryResponse again;
    banyandb__measure__v1__query_response__init(&again);
    again.trace = read;
    uint8_t bytes[2048];
    ck_assert_uint_lt(banyandb__measure__v1__query_response__get_packed_size(&again), sizeof bytes);
    const size_t len = banyandb__measure__v1__query_response__pack(&again, bytes);
    ck_assert(slice_equal(put(trace), slice_of(bytes, len)));
    banyandb__common__v1__trace__free_unpacked(read, NULL);
}
END_TEST

START_TEST(what_a_node_sent_is_written_once)
{
    const size_t large = 200000;
    char *text = arena_zalloc(&arena, large + 1, 1);
    memset(text, 'x', large);
    struct trace *sent = trace_open(&arena, 1);
    struct trace_span *span = trace_span(sent, NULL, 1, "data-node");
    trace_tag_bytes(span, "plan", slice_of(text, large));
    trace_end(span, 2);
    const struct slice bytes = put(sent); /* field 2 of the response: spans are field 2, too */
    const struct slice node = slice_of(bytes.ptr + 4, bytes.len - 4);
    struct arena own;
    arena_init(&own, SIZE_MAX, NULL, NULL);
    struct trace *trace = trace_open(&own, 5);
    struct trace_span *root = trace_span(trace, NULL, 5, "root");
    struct trace_span *child = trace_span(trace, root, 5, "child");
    trace_attach(child, node);
    trace_end(child, 8);
    trace_end(root, 8);
    struct chain chain;
    chain_init(&chain, NULL);
    trace_put(trace, &chain);
    ck_assert_uint_gt(chain.len, large);
    ck_assert_uint_lt(own.capacity, large);
    chain_fini(&chain);
    arena_fini(&own);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace");
    TCase *tcase = tcase_create("trace");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_tree_of_two_levels);
    tcase_add_test(tcase, a_failure_is_told_once);
    tcase_add_test(tcase, a_nodes_spans_become_children);
    tcase_add_test(tcase, texts_are_utf8);
    tcase_add_test(tcase, spans_that_clients_cannot_read_are_left_out);
    tcase_add_test(tcase, spans_that_are_nested_too_deep_are_left_out);
    tcase_add_test(tcase, too_many_children_are_counted);
    tcase_add_test(tcase, deep_trees_keep_their_order);
    tcase_add_test(tcase, what_a_node_sent_is_written_once);
    tcase_add_test(tcase, an_untraced_query_costs_nothing);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
