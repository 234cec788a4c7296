// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a QueryRequest to a fixed catalog: refused with a code and a text, answered, or
 * planned; then each group's push can be read by protobuf-c.
 */
#include "proto/request.h"
#include "tests/unit/proto/sample.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#define BUDGET 67108864u

static void push(const struct request *request, struct arena *arena)
{
    for (size_t i = 0; i < request->group_count; i++) {
        struct slice pushed = request_push(request, i, arena);
        Banyandb__Measure__V1__InternalQueryRequest *message =
            banyandb__measure__v1__internal_query_request__unpack(NULL, pushed.len, pushed.ptr);
        assert(message != NULL && message->request->n_groups == 1);
        banyandb__measure__v1__internal_query_request__free_unpacked(message, NULL);
    }
}

static void ask(struct slice bytes, const struct catalog *catalog, struct arena *arena)
{
    struct request request;
    struct error err = {.code = ERROR_NONE};
    if (!request_parse(bytes, arena, &request, &err)) {
        assert(err.code != ERROR_NONE && err.text[0] != '\0');
        return;
    }
    if (request_gate(&request, catalog, false) == REQUEST_ANSWERED) {
        return;
    }
    if (!request_plan(&request, catalog, "type=hot", arena, &err)) {
        assert(err.code != ERROR_NONE && err.text[0] != '\0');
        return;
    }
    assert(request.plan.limit > 0);
    push(&request, arena);
    if (request_aggregates(&request)) {
        request_aggregate_by(&request, PLAN_PARTIALS, true);
        push(&request, arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct catalog *catalog;
    if (catalog == NULL) {
        catalog = sample_world();
    }
    struct arena arena;
    arena_init(&arena, BUDGET, NULL, NULL);
    ask(slice_of(bytes, len), catalog, &arena);
    assert(arena.capacity <= 2 * (size_t)BUDGET);
    arena_fini(&arena);
    return 0;
}
