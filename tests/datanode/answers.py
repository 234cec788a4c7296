# SPDX-License-Identifier: Apache-2.0
"""Answers of a node to the two query topics, as (error text, body)."""
import frame3
import frame4
import query
from plan import QueryError

_ENCODERS = {3: lambda frame, _constants: frame3.encode(frame), 4: frame4.encode}


def encode(frame, version, constants):
    """The bytes of a frame in a wire version; b"" for an answer without body."""
    return b"" if frame is None else _ENCODERS[version](frame, constants)


def _failure(error):
    return f"code: STATUS_INTERNAL_ERROR, msg: {error}", b""


def measure_query(node, body, _context):
    try:
        plan = query.plan_of(node.catalog, body)
        return "", encode(query.execute(plan, node.store), node.frame_version, node.constants)
    except QueryError as error:
        return _failure(error)


def topn_query(node, body, context):
    return "", b""
