# SPDX-License-Identifier: Apache-2.0
"""One measure query on one node: from the request message to the frame, before any byte is written."""
import aggregate
from emit import to_frame
from messages import nanoseconds
from plan import QueryError, check_execution, make_plan
from scan import scan

_METADATA_COLUMNS = 4


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


def run(plan, store, tracer):
    """The records of the answer, None where a node has no result. Raises QueryError."""
    records = _scan(plan, store, tracer)
    if records is None:
        return None
    check_execution(plan)
    with tracer.span("scan", rows_out=0, batches_out=0,
                     schema_cols=_METADATA_COLUMNS + len(plan.tags) + len(plan.fields)):
        pass
    if plan.aggregates:
        records = _operator("groupby-agg-map", aggregate.aggregate, plan, records, tracer)
    elif plan.groups:
        records = _operator("groupby-first", aggregate.first_of_groups, plan, records, tracer)
    if plan.request.HasField("top"):
        records = _operator("top", aggregate.top, plan, records, tracer)
    return _operator("limit", _limit, plan, records, tracer)


def frame_of(plan, records, tracer):
    """The Frame of records, None for an answer without body."""
    if plan.hidden:
        return to_frame(plan, records)
    with tracer.span("frame-encode", rows_out=len(records)):
        return to_frame(plan, records)


def _scan(plan, store, tracer):
    begin, end = nanoseconds(plan.request.time_range.begin), nanoseconds(plan.request.time_range.end)
    if not store.segments(plan.view, begin, end):
        return None
    search = "seriesIndex.SearchWithoutSeries" if plan.view.index_mode else "seriesIndex.Search"
    with tracer.span(search):
        records = scan(plan, store, begin, end)
    if records is not None and not plan.view.index_mode:
        with tracer.span("scan-blocks", series_num=len({record.series for record in records})):
            pass
    return records


def _operator(name, function, plan, records, tracer):
    with tracer.span(name, rows_in=len(records)):
        result = function(plan, records)
        tracer.tag(rows_out=len(result))
    return result


def _limit(plan, records):
    return records[plan.request.offset:plan.request.offset + plan.limit]
