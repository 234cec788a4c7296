# SPDX-License-Identifier: Apache-2.0
"""banyandb.cluster.v1.Service of a node: the stream on which a liaison sends its queries."""
import grpc
from google.protobuf.message import DecodeError

import answers
import topn
import version
from faults import pause
from messages import cluster, measure
from rpc import services

MEASURE_TOPIC, TOPN_TOPIC = "v1:internal-measure-query", "v1:topN-query"
_BODIES = {MEASURE_TOPIC: measure.InternalQueryRequest, TOPN_TOPIC: measure.TopNRequest}
_ANSWERS = {MEASURE_TOPIC: answers.measure_query, TOPN_TOPIC: answers.topn_query}
_SUCCEED, _NOT_FOUND = 1, 3


class QueryChannel:
    def __init__(self, node):
        self._node = node

    def handlers(self):
        return services({"banyandb.cluster.v1.Service": {
            "Send": ("stream_stream", self.send, cluster.SendRequest),
            "HealthCheck": ("unary_unary", self.health_check, cluster.HealthCheckRequest)}})

    def health_check(self, request, _context):
        if request.service_name in _ANSWERS:
            return cluster.HealthCheckResponse(service_name=request.service_name, status=_SUCCEED)
        return cluster.HealthCheckResponse(service_name=request.service_name, status=_NOT_FOUND)

    def send(self, requests, context):
        """One stream: requests are answered one after the other; its topic is that of its first valid request."""
        stream = _Stream(self._node.log, context)
        topic = None
        try:
            for request in requests:
                stream.waiting = True
                refusal = version.check(request)
                if refusal is not None:
                    yield refusal
                    context.abort(grpc.StatusCode.UNKNOWN, f"version incompatibility: {refusal.error}")
                topic = topic or (request.topic if request.topic in _ANSWERS else None)
                yield from self._answer(topic, request, context)
                stream.waiting = False
        except grpc.RpcError:
            return      # the client went away, which the stream counts
        except Exception:
            stream.ended_here = True
            raise       # the node itself ends the call, as it does by context.abort
        stream.ended_here = True

    def _answer(self, topic, request, context):
        """The response of one request: at most one, none where a fault says so."""
        body = _parse(topic, request)
        self._node.log.add(request, body, context)
        if topic is None:
            yield cluster.SendResponse(message_id=request.message_id,
                                       error="invalid topic" if request.topic else "topic is empty")
            return
        if body is None:
            yield cluster.SendResponse(message_id=request.message_id, error="failed to unmarshal message")
            return
        asked_groups = (body.request if topic == MEASURE_TOPIC else body).groups
        group = asked_groups[0] if asked_groups else ""
        fault = self._node.faults.take(topic, group)
        fault.before(self._node, context)
        response = self._respond(topic, request, body, group, context)
        yield from fault.after(response)

    def _respond(self, topic, request, body, group, context):
        node = self._node
        if node.replay is not None:
            response = node.replay.respond(group)
            response.message_id = request.message_id
            return response
        if node.synthetic is not None and node.synthetic.topn == (topic == TOPN_TOPIC):
            return node.synthetic.respond(request.message_id)
        if node.timeline is not None and topic == MEASURE_TOPIC:
            return cluster.SendResponse(message_id=request.message_id, body=node.timeline.answer(node, body))
        try:
            error, answer = _ANSWERS[topic](node, body)
        except topn.NodePanic as panic:
            context.abort(grpc.StatusCode.INTERNAL, str(panic))
        except topn.NodeStuck:
            pause(context)
        return cluster.SendResponse(message_id=request.message_id, error=error, body=answer)


def _parse(topic, request):
    if topic is None:
        return None
    try:
        return _BODIES[topic].FromString(request.body)
    except DecodeError:
        return None


class _Stream:
    """Notices how one stream ends: `ended_here` says that it was the node, `waiting` that an answer was due."""

    def __init__(self, log, context):
        self._log = log
        self.ended_here = self.waiting = False
        log.count("streams")
        context.add_callback(self._ended)

    def _ended(self):
        if not self.ended_here:
            self._log.count("cancelled", *(["cancelled_unanswered"] if self.waiting else []))
