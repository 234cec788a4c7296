// SPDX-License-Identifier: Apache-2.0
/*
 * What a node is asked for: one group of the client's request with a few fields changed.
 *
 *     TopNRequest { groups, time_range, top_n, trace │ carried bytes }
 *                   made anew, small                   as the client sent them
 */
#include "proto/moment.h"
#include "proto/pbw.h"
#include "proto/topn_request.h"

typedef Banyandb__Measure__V1__TopNRequest topn_message;

static struct slice pack(const topn_message *changed, struct slice carried, struct arena *arena)
{
    size_t size = banyandb__measure__v1__top_nrequest__get_packed_size(changed) + carried.len;
    uint8_t *start = arena_alloc(arena, size, 1);
    uint8_t *at = start + banyandb__measure__v1__top_nrequest__pack(changed, start);
    at = pbw_copy(at, carried);
    return slice_of(start, (size_t)(at - start));
}

struct slice topn_request_push(const struct topn_request *request, size_t group,
                               const int64_t *bucket, int64_t number, struct arena *arena)
{
    topn_message changed;
    banyandb__measure__v1__top_nrequest__init(&changed);
    char *name = (char *)(uintptr_t)request->groups[group].name.ptr;
    changed.n_groups = 1;
    changed.groups = &name;
    changed.top_n =
        number < TOPN_REQUEST_MAX_NUMBER ? (int32_t)number : (int32_t)TOPN_REQUEST_MAX_NUMBER;
    Google__Protobuf__Timestamp moment = moment_timestamp(bucket == NULL ? 0 : *bucket);
    Banyandb__Model__V1__TimeRange range;
    banyandb__model__v1__time_range__init(&range);
    range.begin = &moment;
    range.end = &moment;
    changed.trace = request->trace;
    changed.time_range = bucket == NULL ? request->message->time_range : &range;
    return pack(&changed, request->carried, arena);
}
