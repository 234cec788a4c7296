# SPDX-License-Identifier: Apache-2.0
"""Whether somebody was silent whom the test did not silence.

A node that says nothing for two seconds is taken for dead. A busy machine may let a process wait for as long; what a
test of such nodes finds then is no verdict.
"""
import functools
import http.client
import threading
import time

from liaison import Liaison
from nodes import Nodes

SILENT = 0.8        # s
ATTEMPTS = 4


class Heartbeat:
    """While the block runs all sample nodes and liaisons are asked for a sign of life again and again. `longest`: for how
    many seconds one of them, or this process, did nothing."""

    def __init__(self):
        self.longest = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join(SILENT)

    def _work(self):
        began = time.monotonic()
        while not self._stop.wait(0.05):
            self._note(began)
            for nodes in list(Nodes.all):
                if not nodes.frozen:
                    self._ask(nodes.control, lambda since: not nodes.frozen and nodes.thawed_at < since)  # noqa: B023
            for liaison in list(Liaison.all):
                if liaison.is_known:
                    self._ask(lambda: liaison.get("/healthz", 60))  # noqa: B023
            began = time.monotonic()

    def _ask(self, whom, counts=lambda since: True):
        began = time.monotonic()
        try:
            whom()
        except (OSError, AssertionError, http.client.HTTPException):
            return      # it has been ended
        if counts(began):
            self._note(began)

    def _note(self, began):
        self.longest = max(self.longest, time.monotonic() - began)


def unless_silent(test):
    """Begins a failed test anew when somebody was silent meanwhile."""
    @functools.wraps(test)
    def judged(*arguments, **more):
        for left in reversed(range(ATTEMPTS)):
            with Heartbeat() as heartbeat:
                try:
                    return test(*arguments, **more)
                except Exception as why:
                    failed = why
            if left == 0 or heartbeat.longest < SILENT:
                raise failed
            print(f"once more, as somebody was silent for {heartbeat.longest:.1f} s: {failed}")
    return judged
