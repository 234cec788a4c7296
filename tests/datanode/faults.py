# SPDX-License-Identifier: Apache-2.0
"""Misbehaviour on request: what a node does to its answers while a test wants it to."""
import random
import struct
import threading
from dataclasses import dataclass

import grpc
from google.protobuf.message import DecodeError

from frame import MAGIC
from frame3 import uvarint
from messages import cluster, common, measure

_TOPICS = {"measure": "v1:internal-measure-query", "topn": "v1:topN-query"}
_VERSION_AT, _COUNTS_AT = 4, 5      # where a frame's version stands, and the counts of version 3 behind it
_HUGE = 1 << 62


@dataclass
class Fault:
    """One way to misbehave; the fields are the keys of the control command, unset ones do nothing."""
    topic: str = ""             # only requests of this topic: measure or topn
    group: str = ""             # only requests whose first group this is
    times: int | None = None    # only so many requests
    delay_ms: int = 0           # answer later
    hang: bool = False          # never answer
    hold: bool = False          # answer when the node's faults are set anew, null for instance
    close: bool = False         # reset all connections of the node instead of answering
    status: dict | None = None  # end the call with {"code": "UNAVAILABLE", "message": "..."}
    no_message: bool = False    # end the stream without a response
    error: str = ""             # answer with this error text
    truncate: int | None = None     # keep so many bytes of the body; negative: cut so many off
    mutate: int = 0             # change so many random bytes of the body
    seed: int = 0               # for mutate and garbage
    version_byte: int | None = None     # the frame's version
    garbage: int | None = None  # a body of so many random bytes; with version_byte they begin like a frame
    huge: str = ""              # a frame that declares an absurd number of rows, columns or name bytes
    data_points: bool = False   # an InternalQueryResponse with rows instead of a frame
    trace_error: bool = False   # an InternalQueryResponse with a failed trace and no frame

    def __post_init__(self):
        self.ended = threading.Event()      # the node has other faults now

    def applies(self, topic, group):
        return _TOPICS.get(self.topic, topic) == topic and self.group in ("", group)

    def before(self, node, context):
        """What happens before the query runs. Does not return when the call ends here."""
        if self.delay_ms or self.hang:
            pause(context, None if self.hang else self.delay_ms / 1000)
        if self.hold:
            hold(context, self.ended)
        if self.close:
            node.cut()
            pause(context)
        if self.status:
            context.abort(grpc.StatusCode[self.status["code"]], self.status.get("message", ""))

    def after(self, response):
        """Yields what is sent instead of the response."""
        if self.no_message:
            return
        if self._changes_response():
            response = cluster.SendResponse.FromString(response) if isinstance(response, bytes) else response
            if self.error:
                response.error = self.error
                response.ClearField("body")
            else:
                response.body = self._damaged(response.body)
        yield response

    def _changes_response(self):
        return bool(self.error or self.mutate or self.huge or self.data_points or self.trace_error) or any(
            value is not None for value in (self.truncate, self.version_byte, self.garbage))

    def _damaged(self, body):
        """The body with all wanted damages, in a fixed order."""
        source = random.Random(self.seed)
        if self.data_points:
            body = _data_points()
        if self.trace_error:
            body = _trace_error()
        if self.garbage is not None:
            body = source.randbytes(self.garbage)
            if self.version_byte is not None:
                body = MAGIC + body[len(MAGIC):]
        if self.huge:
            body = _in_frame(body, lambda frame: _huge(frame, self.huge))
        if self.version_byte is not None:
            body = _in_frame(body, lambda frame: _of_version(frame, self.version_byte))
        if self.mutate:
            body = _mutated(body, self.mutate, source)
        return body if self.truncate is None else body[:self.truncate]


def pause(context, seconds=None):
    """Waits, for ever without a time, but not longer than the call lives."""
    ended = threading.Event()
    if not context.add_callback(ended.set) or ended.wait(seconds):
        raise grpc.RpcError("the call ended while its answer was held back")


def hold(context, ended):
    """Waits for the event, but not longer than the call lives."""
    while not ended.wait(0.02):
        if not context.is_active():
            raise grpc.RpcError("the call ended while its answer was held back")


def _in_frame(body, change):
    """The body with its frame changed, which is all of it, or lies in a message beside the trace."""
    if body.startswith(MAGIC):
        return change(body)
    try:
        response = measure.InternalQueryResponse.FromString(body)
    except DecodeError:
        return body
    if not response.raw_frame_body:
        return body
    response.raw_frame_body = change(response.raw_frame_body)
    return response.SerializeToString()


def _of_version(frame, version):
    return frame[:_VERSION_AT] + bytes([version]) + frame[_VERSION_AT + 1:]


def _mutated(body, count, source):
    changed = bytearray(body)
    for _ in range(count if body else 0):
        changed[source.randrange(len(changed))] = source.randrange(256)
    return bytes(changed)


def _huge(body, where):
    return _huge4(body, where) if body[_VERSION_AT] == 4 else _huge3(body, where)


def _huge4(body, where):
    offset, width = {"rows": (8, "<I"), "columns": (12, "<I"), "names": (20, "<H")}[where]
    size = struct.calcsize(width)
    return body[:offset] + b"\xff" * size + body[offset + size:]


def _huge3(body, where):
    """Cuts the frame behind the huge number: what follows can never be reached."""
    counts = {"rows": uvarint(_HUGE) + uvarint(1), "columns": uvarint(1) + uvarint(_HUGE),
              "names": uvarint(1) + uvarint(1) + b"\x05\x03" + uvarint(_HUGE)}
    return body[:_COUNTS_AT] + counts[where] + bytes(64)


def _data_points():
    response = measure.InternalQueryResponse()
    response.data_points.add().data_point.timestamp.seconds = 1
    return response.SerializeToString()


def _trace_error():
    return measure.InternalQueryResponse(trace=common.Trace(trace_id="failed", error=True)).SerializeToString()


NONE = Fault()


class Faults:
    """The faults of one node. The first one that applies to a request is used."""

    def __init__(self):
        self._faults = []
        self._taken = []    # and not ended yet, of those that hold answers back
        self._lock = threading.Lock()

    def set(self, *faults):
        with self._lock:
            for fault in self._taken:
                fault.ended.set()
            self._faults, self._taken = list(faults), []

    def take(self, topic, group):
        with self._lock:
            for fault in self._faults:
                if fault.applies(topic, group):
                    if fault.hold:
                        self._taken.append(fault)
                    if fault.times is not None:
                        fault.times -= 1
                        if not fault.times:
                            self._faults.remove(fault)
                    return fault
        return NONE
