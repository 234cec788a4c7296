# SPDX-License-Identifier: Apache-2.0
"""One measure query on one node: from the request message to the frame, before any byte is written."""
from messages import nanoseconds

import aggregate
from emit import to_frame
from plan import QueryError, check_execution, make_plan
from scan import scan


def plan_of(catalog, internal_request):
    """The plan of an InternalQueryRequest, or QueryError."""
    if not internal_request.HasField("request"):
        raise QueryError("query request is nil")
    request = internal_request.request
    if not request.groups:
        raise QueryError("panic")
    view = catalog.measure(request.groups[0], request.name)
    if view is None:
        raise QueryError(f"fail to get execution context for measure {request.name}: measure doesn't exist")
    return make_plan(view, request, internal_request.agg_return_partial)


def execute(plan, store):
    """The Frame of the answer, None for an answer without body. Raises QueryError."""
    time_range = plan.request.time_range
    records = scan(plan, store, nanoseconds(time_range.begin), nanoseconds(time_range.end))
    if records is None:
        return None
    check_execution(plan)
    if plan.aggregates:
        records = aggregate.aggregate(plan, records)
    elif plan.groups:
        records = aggregate.first_of_groups(plan, records)
    if plan.request.HasField("top"):
        records = aggregate.top(plan, records)
    return to_frame(plan, records[plan.request.offset:plan.request.offset + plan.limit])
