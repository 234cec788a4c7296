# SPDX-License-Identifier: Apache-2.0
"""What a node was asked, kept so that a test can compare the pushed-down requests."""
import threading
import time

from google.protobuf import json_format


class RequestLog:
    """Counts and requests since the start or the last `clear`."""

    def __init__(self):
        self._lock = threading.Lock()
        self.clear()

    def clear(self):
        with self._lock:
            self._counts = {"sends": 0, "streams": 0, "cancelled": 0, "cancelled_unanswered": 0}
            self._requests = []

    def count(self, *events):
        with self._lock:
            for event in events:
                self._counts[event] += 1

    def add(self, request, body, context):
        """Notes a SendRequest with its parsed body, None when the body could not be parsed."""
        left = context.time_remaining()
        entry = {"at": time.time(), "topic": request.topic, "message_id": request.message_id, "group": request.group,
                 "sender_node": request.sender_node, "sender_role": request.sender_role,
                 "sender_tier": request.sender_tier, "has_version_info": request.HasField("version_info"),
                 "time_remaining": left, "body": None if body is None else json_format.MessageToDict(body)}
        with self._lock:
            self._counts["sends"] += 1
            self._requests.append(entry)

    def snapshot(self):
        with self._lock:
            return {**self._counts, "requests": list(self._requests)}
