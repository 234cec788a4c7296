// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as the traces of nodes, which go to the client as they came: the input is cut into
 * three by its first two bytes. Whatever they hold, a client can read the answer: no text is bad,
 * and no message is nested deeper than most clients go.
 */
#include "proto/depth.h"
#include "proto/measure.pb-c.h"
#include "proto/trace.h"
#include "tests/support/chain_bytes.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#define CLIENT_DEPTH 100 /* messages within each other */

static struct slice cut(struct slice *rest, size_t most)
{
    const struct slice part = slice_of(rest->ptr, rest->len < most ? rest->len : most);
    *rest = slice_of(rest->ptr + part.len, rest->len - part.len);
    return part;
}

/* As deep as they lie below the answer's own spans. */
static void put_trace(struct arena *arena, struct slice rest, const uint8_t cuts[2],
                      struct chain *chain)
{
    struct trace *trace = trace_open(arena, 5);
    struct trace_span *root = trace_span(trace, NULL, 5, "root");
    struct trace_span *execution = trace_span(trace, root, 6, "execution");
    struct trace_span *first = trace_span(trace, execution, 7, "broadcast");
    struct trace_span *second = trace_span(trace, execution, 7, "broadcast");
    trace_attach(first, cut(&rest, cuts[0]));
    trace_attach(second, cut(&rest, cuts[1]));
    trace_attach(first, rest);
    trace_tag_bytes(second, "bytes", rest);
    trace_end(second, 8);
    trace_end(first, 9);
    trace_end(execution, 10);
    trace_end(root, 11);
    trace_put(trace, chain);
}

static size_t depth_of(const Banyandb__Common__V1__Span *root)
{
    size_t depth = 3; /* the answer, its trace, and the span */
    const Banyandb__Common__V1__Span *span = root;
    for (; span->n_children > 0; span = span->children[0]) {
        depth++;
    }
    return depth;
}

static void read_back(struct slice answer)
{
    size_t memory;
    struct error err;
    const bool good =
        depth_check(answer, &banyandb__measure__v1__query_response__descriptor, &memory, &err);
    assert(good || strstr(err.text, "NUL") != NULL); /* which is good UTF-8 */
    Banyandb__Measure__V1__QueryResponse *message =
        banyandb__measure__v1__query_response__unpack(NULL, answer.len, answer.ptr);
    if (message == NULL) {
        return; /* groups in it, which protobuf-c does not know and others pass over */
    }
    assert(message->trace->n_spans == 1);
    assert(depth_of(message->trace->spans[0]) < CLIENT_DEPTH);
    banyandb__measure__v1__query_response__free_unpacked(message, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 2) {
        return 0;
    }
    struct arena arena;
    struct chain chain;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    chain_init(&chain, NULL);
    uint8_t *copy = malloc(len); /* so that reading beyond it is seen */
    assert(copy != NULL);
    memcpy(copy, bytes, len);
    put_trace(&arena, slice_of(copy + 2, len - 2), copy, &chain);
    size_t answer_len;
    uint8_t *answer = chain_bytes(&chain, &answer_len);
    read_back(slice_of(answer, answer_len));
    free(answer);
    free(copy);
    chain_fini(&chain);
    arena_fini(&arena);
    return 0;
}
