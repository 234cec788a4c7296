// SPDX-License-Identifier: Apache-2.0
/*
 * TopN from both sides; the first byte of the input says which.
 *
 *   even  the rest is a client's request: refused with a code and a text, or planned, and what
 * nodes would be sent can be read by protobuf-c and asks for no more than a node can bear odd   the
 * rest is two nodes' answers, one behind the other: refused, or the same items come out in
 * whichever order they came in
 */
#include "merge/topn.h"
#include "proto/topn_request.h"
#include "proto/topn_response.h"
#include "tests/support/chain_bytes.h"
#include "tests/unit/proto/topn_sample.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#define BUDGET 67108864u

/* A request */

static void push(const struct topn_request *request, struct arena *arena)
{
    for (size_t i = 0; i < request->group_count; i++) {
        const int64_t *bucket = i % 2 == 0 ? NULL : &request->rules[i].buckets.first;
        struct slice pushed = topn_request_push(request, i, bucket, request->message->top_n, arena);
        Banyandb__Measure__V1__TopNRequest *message =
            banyandb__measure__v1__top_nrequest__unpack(NULL, pushed.len, pushed.ptr);
        assert(message != NULL && message->n_groups == 1 && message->agg == 0);
        assert(message->trace == request->message->trace);
        assert(message->top_n > 0 && message->top_n <= TOPN_REQUEST_MAX_NUMBER);
        banyandb__measure__v1__top_nrequest__free_unpacked(message, NULL);
    }
}

static void ask(struct slice bytes, struct arena *arena)
{
    static struct catalog *catalog;
    if (catalog == NULL) {
        catalog = topn_sample_world();
    }
    struct topn_request request;
    struct error err = {.code = ERROR_NONE};
    if (!topn_request_parse(bytes, arena, &request, &err) ||
        !topn_request_plan_nodes(&request, catalog, "type=hot", arena, &err) ||
        !topn_request_plan(&request, catalog, arena, &err)) {
        assert(err.code != ERROR_NONE && err.text[0] != '\0');
        return;
    }
    push(&request, arena);
}

/* Answers */

static bool feed(struct topn_batch *batch, struct slice body)
{
    struct error err = {.code = ERROR_NONE};
    size_t items;
    bool taken = topn_batch_feed(batch, body, &items, &err);
    assert(taken || (err.code != ERROR_NONE && err.text[0] != '\0'));
    return taken;
}

/* The response's bytes without its time; NULL when an answer was refused. */
static uint8_t *answer(const struct topn_plan *plan, struct slice first, struct slice second,
                       size_t *len_out)
{
    struct arena arena;
    struct chain chain;
    struct topn_response response;
    struct topn_item item;
    enum topn_step step;
    uint8_t *bytes = NULL;
    arena_init(&arena, BUDGET, NULL, NULL);
    chain_init(&chain, NULL);
    topn_response_init(&response, &chain, BUDGET);
    struct topn *topn = topn_open(plan, &arena);
    struct topn_batch *batch = topn_batch_new(topn);
    topn_batch_begin(batch, 0);
    if (feed(batch, first) && feed(batch, second)) {
        topn_batch_fold(batch);
        while ((step = topn_next(topn, &item)) != TOPN_DONE) {
            assert(step == TOPN_MORE || topn_response_item(&response, &item, NULL));
        }
        topn_response_end(&response, 0);
        bytes = chain_bytes(&chain, len_out);
    }
    chain_fini(&chain);
    arena_fini(&arena);
    return bytes;
}

static void compare(const struct topn_plan *plan, struct slice a, struct slice b)
{
    size_t len;
    size_t other_len;
    uint8_t *bytes = answer(plan, a, b, &len);
    uint8_t *other = answer(plan, b, a, &other_len);
    assert((bytes == NULL) == (other == NULL));
    assert(bytes == NULL || (len == other_len && memcmp(bytes, other, len) == 0));
    free(bytes);
    free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 2) {
        return 0;
    }
    if (bytes[0] % 2 == 0) {
        struct arena arena;
        arena_init(&arena, BUDGET, NULL, NULL);
        ask(slice_of(bytes + 1, len - 1), &arena);
        assert(arena.capacity <= 2 * (size_t)BUDGET);
        arena_fini(&arena);
        return 0;
    }
    const struct topn_plan plan = {
        .agg = {.function = (enum plan_function)(bytes[0] / 2 % 5), .type = bytes[0] / 16 % 2},
        .ascending = bytes[0] / 32 % 2,
        .every = bytes[0] / 64 % 2,
        .number = 1000,
    };
    size_t rest = len - 2;
    size_t split = bytes[1] < rest ? bytes[1] : rest;
    /* arena_keep and its like may look 16 bytes past an answer */
    uint8_t *copy = calloc(1, len + 16);
    memcpy(copy, bytes, len);
    compare(&plan, slice_of(copy + 2, split), slice_of(copy + 2 + split, rest - split));
    free(copy);
    return 0;
}
