# SPDX-License-Identifier: Apache-2.0
"""Answers of a node to the two query topics, as (error text, body)."""
import frame3
import frame4
import query
import topn
from messages import measure
from plan import SORT_DESC, QueryError
from spans import Tracer


def encode(frame, version, constants=True):
    """The bytes of a frame in a wire version; b"" for an answer without body."""
    if frame is None:
        return b""
    return frame3.encode(frame) if version == frame3.VERSION else frame4.encode(frame, constants)


def _failure(error):
    return f"code: STATUS_INTERNAL_ERROR, msg: {error}", b""


def measure_query(node, body):
    """Failures of a plan are errors even when traced; those of laying out the frame then go into the trace."""
    try:
        plan = query.plan_of(node.catalog, body)
        tracer = Tracer(f"data-{node.name}", plan=f"Limit(offset={plan.request.offset}, n={plan.limit})",
                        resp_kind="raw-frame")
        records = query.run(plan, node.store, tracer)
    except QueryError as error:
        return _failure(error)
    try:
        frame = None if records is None else query.frame_of(plan, records, tracer)
    except QueryError as error:
        if not plan.request.trace:
            return _failure(error)
        tracer.fail(error)
        return "", measure.InternalQueryResponse(trace=tracer.finish()).SerializeToString()
    encoded = encode(frame, node.frame_version, node.constants)
    if not plan.request.trace:
        return "", encoded
    tracer.tag(bytes_out=len(encoded))
    return "", measure.InternalQueryResponse(trace=tracer.finish(), raw_frame_body=encoded).SerializeToString()


def topn_query(node, body):
    """Raises topn.NodePanic and topn.NodeStuck where a real node does not answer in order."""
    direction = "DESC" if body.field_value_sort == SORT_DESC else "ASC"
    tracer = Tracer(f"data-{node.name}", plan=f"TopNDistinct(topN={body.top_n},sort={direction})")
    try:
        with tracer.span("seriesIndex.Search"):
            response = topn.lists(node, body)
    except topn.TopNError as error:
        return _failure(error)
    if response is None:
        return "", b""
    if body.trace:
        response.trace.CopyFrom(tracer.finish())
    return "", response.SerializeToString()
