// SPDX-License-Identifier: Apache-2.0
#include "proto/request.h"

#include "frame/wire.h"
#include "proto/alloc.h"
#include "proto/depth.h"
#include "proto/request_check.h"
#include "proto/request_text.h"

#include <stdlib.h>

typedef Banyandb__Measure__V1__QueryRequest query_request;

static bool check_budget(struct slice bytes, size_t needed, const struct arena *arena,
                         struct error *err)
{
    size_t left = arena->budget > arena->capacity ? arena->budget - arena->capacity : 0;
    return needed <= left ||
           error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "the request of %zu bytes takes about %zu bytes of memory, %zu of the query's "
                     "budget of %zu are left; ask for fewer groups, tags or conditions",
                     bytes.len, needed, left, arena->budget);
}

static bool unpack(struct slice bytes, struct arena *arena, struct request *request,
                   struct error *err)
{
    size_t needed;
    if (!depth_check(bytes, &banyandb__measure__v1__query_request__descriptor, &needed, err) ||
        !check_budget(bytes, needed, arena, err)) {
        return false;
    }
    ProtobufCAllocator allocator = alloc_region(arena);
    request->message =
        banyandb__measure__v1__query_request__unpack(&allocator, bytes.len, bytes.ptr);
    return request->message != NULL ||
           error_set(err, ERROR_INTERNAL,
                     "grpc: error unmarshalling request: proto: cannot parse invalid wire-format "
                     "data");
}

/* Fields that a node's request does not take over unchanged: groups, time_range, the projections,
 * group_by, agg, top, offset, limit, trace. */
static bool is_changed(uint32_t number)
{
    return number == 1 || number == 3 || (number >= 5 && number <= 11) || number == 13;
}

/* The other fields, one after the other. */
static struct slice carry(struct slice bytes, struct arena *arena)
{
    uint8_t *start = arena_alloc(arena, bytes.len, 1);
    uint8_t *at = start;
    struct wire wire = wire_of(bytes);
    struct wire_field field;
    const uint8_t *from = wire.at;
    while (wire_next(&wire, &field) == WIRE_FIELD) {
        size_t len = (size_t)(wire.at - from);
        if (!is_changed(field.number)) {
            memcpy(at, from, len);
            at += len;
        }
        from = wire.at;
    }
    return slice_of(start, (size_t)(at - start));
}

struct name {
    struct slice text;
    size_t place; /* in the request */
};

static int by_text(const void *a, const void *b)
{
    const struct name *name_a = a;
    const struct name *name_b = b;
    int order = strcmp((const char *)name_a->text.ptr, (const char *)name_b->text.ptr);
    return order != 0 ? order : (name_a->place > name_b->place) - (name_a->place < name_b->place);
}

/* Marks a name that an earlier place of the request has, too, by its length. */
static void mark_repeated(struct name *names, size_t count, bool *repeated, struct arena *arena)
{
    struct name *sorted = arena_array(arena, struct name, count);
    memcpy(sorted, names, count * sizeof *names);
    qsort(sorted, count, sizeof *sorted, by_text);
    for (size_t i = 1; i < count; i++) {
        repeated[sorted[i].place] = slice_equal(sorted[i].text, sorted[i - 1].text);
    }
}

/* A group named twice is asked once. */
static void take_groups(struct request *request, struct arena *arena)
{
    const query_request *message = request->message;
    size_t count = message->n_groups;
    struct name *names = arena_array(arena, struct name, count);
    bool *repeated = arena_array(arena, bool, count);
    for (size_t i = 0; i < count; i++) {
        names[i] = (struct name){.text = slice_str(message->groups[i]), .place = i};
    }
    mark_repeated(names, count, repeated, arena);
    request->groups = arena_array(arena, struct request_group, count);
    for (size_t i = 0; i < count; i++) {
        if (!repeated[i]) {
            request->groups[request->group_count++].name = names[i].text;
        }
    }
}

bool request_parse(struct slice bytes, struct arena *arena, struct request *request,
                   struct error *err)
{
    *request = (struct request){.message = NULL};
    if (!unpack(bytes, arena, request, err) || !request_check(request->message, err)) {
        return false;
    }
    request->trace = request->message->trace;
    request->carried = carry(bytes, arena);
    take_groups(request, arena);
    return true;
}

void request_wrap_error(const struct request *request, struct error *err)
{
    switch (err->code) {
    case ERROR_RESOURCE_EXHAUSTED:
    case ERROR_DEADLINE_EXCEEDED:
    case ERROR_CANCELLED:
    case ERROR_UNIMPLEMENTED:
    case ERROR_UNAVAILABLE:
        return;
    default:
        break;
    }
    struct error inner = *err;
    request_text_fail(err, "fail to execute the query plan for measure %.200s: %s",
                      request->message->name, inner.text);
}
