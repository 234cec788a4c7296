// SPDX-License-Identifier: Apache-2.0
#include "proto/topn_request.h"

#include "proto/request_bytes.h"
#include "proto/request_rules.h"
#include "proto/request_text.h"

typedef Banyandb__Measure__V1__TopNRequest topn_message;

/* What a node's request does not take over unchanged: groups, time_range, top_n, agg, trace. */
static const uint64_t changed_fields = REQUEST_BYTES_FIELD(1) | REQUEST_BYTES_FIELD(3) |
                                       REQUEST_BYTES_FIELD(4) | REQUEST_BYTES_FIELD(5) |
                                       REQUEST_BYTES_FIELD(8);

static bool check_rules(const topn_message *message, struct error *err)
{
    const struct request_rules rules = {
        .type = "TopNRequest",
        .group_count = message->n_groups,
        .name = message->name,
        .time_range = message->time_range,
        .top_n = &message->top_n,
        .stage_count = message->n_stages,
    };
    return request_rules_check(&rules, err);
}

bool topn_request_parse(struct slice bytes, struct arena *arena, struct topn_request *request,
                        struct error *err)
{
    *request = (struct topn_request){.message = NULL};
    topn_message *message = (topn_message *)request_bytes_unpack(
        bytes, &banyandb__measure__v1__top_nrequest__descriptor, arena, err);
    if (message == NULL || !check_rules(message, err)) {
        return false;
    }
    request->message = message;
    request->trace = message->trace;
    request->carried = request_bytes_carry(bytes, changed_fields, arena);
    request->groups =
        request_group_take(message->groups, message->n_groups, arena, &request->group_count);
    return true;
}

void topn_request_wrap_error(const struct topn_request *request, struct error *err)
{
    if (request_text_keeps(err->code)) {
        return;
    }
    struct error inner = *err;
    request_text_fail(err, "execute the query %.200s: %s", request->message->name, inner.text);
}
