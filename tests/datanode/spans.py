# SPDX-License-Identifier: Apache-2.0
"""The trace that a node attaches to an answer when the request asks for one."""
import contextlib
import datetime
import time

from messages import common, set_nanoseconds


def _rfc3339(nanos):
    moment = datetime.datetime.fromtimestamp(nanos // 1_000_000_000, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S") + f".{nanos % 1_000_000_000:09d}Z"


class Tracer:
    """Collects spans below one root. `span` nests by its place in the code: children go to the span that is open."""

    def __init__(self, message, **tags):
        now = time.time_ns()
        self.trace = common.Trace(trace_id=_rfc3339(now))
        self._root = self.trace.spans.add(message=message)
        set_nanoseconds(self._root.start_time, now)
        self._began = time.perf_counter_ns()
        self._open = [self._root]
        self.tag(**tags)

    def tag(self, **tags):
        """Adds tags to the innermost open span."""
        for key, value in tags.items():
            self._open[-1].tags.add(key=key, value=str(value))

    @contextlib.contextmanager
    def span(self, message, **tags):
        child = self._open[-1].children.add(message=message)
        set_nanoseconds(child.start_time, time.time_ns())
        began = time.perf_counter_ns()
        self._open.append(child)
        self.tag(**tags)
        yield
        self._open.pop()
        child.duration = time.perf_counter_ns() - began
        set_nanoseconds(child.end_time, time.time_ns())

    def fail(self, text):
        """Marks the whole trace as failed, as a node does when it cannot produce the frame."""
        self.trace.error = self._root.error = True
        self.tag(error_msg=text)

    def finish(self):
        """Ends the root span and returns the Trace."""
        self._root.duration = time.perf_counter_ns() - self._began
        set_nanoseconds(self._root.end_time, time.time_ns())
        return self.trace
