// SPDX-License-Identifier: Apache-2.0
#include "proto/request.h"

#include "proto/request_bytes.h"
#include "proto/request_check.h"
#include "proto/request_text.h"

/* What a node's request does not take over unchanged: groups, time_range, the projections,
 * group_by, agg, top, offset, limit, trace. */
static const uint64_t changed_fields = REQUEST_BYTES_FIELD(1) | REQUEST_BYTES_FIELD(3) |
                                       REQUEST_BYTES_FIELD(5) | REQUEST_BYTES_FIELD(6) |
                                       REQUEST_BYTES_FIELD(7) | REQUEST_BYTES_FIELD(8) |
                                       REQUEST_BYTES_FIELD(9) | REQUEST_BYTES_FIELD(10) |
                                       REQUEST_BYTES_FIELD(11) | REQUEST_BYTES_FIELD(13);

bool request_parse(struct slice bytes, struct arena *arena, struct request *request,
                   struct error *err)
{
    *request = (struct request){.message = NULL};
    Banyandb__Measure__V1__QueryRequest *message =
        (Banyandb__Measure__V1__QueryRequest *)request_bytes_unpack(
            bytes, &banyandb__measure__v1__query_request__descriptor, arena, err);
    if (message == NULL || !request_check(message, err)) {
        return false;
    }
    request->message = message;
    request->trace = message->trace;
    request->several = message->n_groups > 1;
    request->carried = request_bytes_carry(bytes, changed_fields, arena);
    request->groups =
        request_group_take(message->groups, message->n_groups, arena, &request->group_count);
    return true;
}

void request_wrap_error(const struct request *request, struct error *err)
{
    if (err->code == ERROR_FAILED_PRECONDITION) {
        error_prefix(err, "fail to execute the query plan for measure %.200s",
                     request->message->name);
    }
    if (request_text_keeps(err->code)) {
        return;
    }
    struct error inner = *err;
    request_text_fail(err, "fail to execute the query plan for measure %.200s: %s",
                      request->message->name, inner.text);
}
