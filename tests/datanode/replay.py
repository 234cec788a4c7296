# SPDX-License-Identifier: Apache-2.0
"""Answers a node with recorded SendResponse messages: the n-th request to a group gets the group's n-th answer."""
import collections
import threading

from google.protobuf.message import DecodeError

import frame3
import frame4
from messages import cluster, measure


class Replay:
    """`recorded` is a list of (group, SendResponse bytes); with `reencode`, frames are sent again in version 4."""

    def __init__(self, recorded, reencode=False):
        self._lock = threading.Lock()
        self._answers = collections.defaultdict(collections.deque)
        for group, data in recorded:
            response = cluster.SendResponse.FromString(data)
            if reencode:
                response.body = to_version_4(response.body)
            self._answers[group].append(response)

    def respond(self, group):
        """The next answer for a group; a node that is asked too often says so."""
        with self._lock:
            if self._answers[group]:
                return self._answers[group].popleft()
        return cluster.SendResponse(error=f"replay: no answer is left for group {group}")


def to_version_4(body):
    """A body of version 3, bare frame or with a trace around it, in version 4. Other bodies stay as they are."""
    if body[:1] == b"\x00":
        return frame4.encode(frame3.decode(body))
    response = measure.InternalQueryResponse()
    try:
        response.ParseFromString(body)
    except DecodeError:
        return body
    if not response.raw_frame_body:
        return body
    response.raw_frame_body = frame4.encode(frame3.decode(response.raw_frame_body))
    return response.SerializeToString()
