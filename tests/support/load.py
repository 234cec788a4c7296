# SPDX-License-Identifier: Apache-2.0
"""Clients that ask at a steady rate, each in turn over its own connection, and remember all that came."""
import collections
import dataclasses
import threading
import time

import grpc

from client import QUERY
from liaison import binary


@dataclasses.dataclass
class Outcome:
    at: float         # time.monotonic() when it was sent
    took: float       # seconds
    request: int      # which of the requests
    code: object      # None: answered
    answer: object    # bytes, or the text of the error
    trailers: dict


def is_sanitized():
    """Whether the program under test carries a sanitizer, which makes it several times slower."""
    return b"__asan_init" in binary().read_bytes()


class Load:
    """`rate` queries a second over all `clients`, as far as they are answered in time: a client has one query
    open. With `reconnect` a client takes a new connection after so many queries."""

    def __init__(self, address, requests, clients=4, rate=40, timeout=30, reconnect=0, options=()):
        self.address, self.requests = address, [request.SerializeToString() for request in requests]
        self.pause, self.timeout, self.reconnect = clients / rate, timeout, reconnect
        # Channel settings as everybody has them, but one connection for each client.
        self.options = [("grpc.use_local_subchannel_pool", 1), *options]
        self.outcomes = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(number,)) for number in range(clients)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _work(self, number):
        channel, asked, due = None, number, time.monotonic() + number * self.pause / len(self._threads)
        while not self._stop.wait(max(0, due - time.monotonic())):
            if channel is None:
                channel = grpc.insecure_channel(self.address, self.options)
            self.outcomes.append(self._ask(channel, asked % len(self.requests)))
            asked += 1
            due = max(due + self.pause, time.monotonic() - 1)
            if self.reconnect and asked % self.reconnect == 0:
                channel.close()
                channel = None
        if channel is not None:
            channel.close()

    def _ask(self, channel, at):
        began = time.monotonic()
        try:
            data, call = channel.unary_unary(QUERY).with_call(self.requests[at], timeout=self.timeout)
            code, answer, trailers = None, data, dict(call.trailing_metadata())
        except grpc.RpcError as why:
            code, answer, trailers = why.code(), why.details(), {}
        return Outcome(began, time.monotonic() - began, at, code, answer, trailers)

    # --------------------------------------------------------------- results

    def failed(self):
        return [outcome for outcome in self.outcomes if outcome.code is not None]

    def between(self, begin, end):
        """Those sent in this time."""
        return [outcome for outcome in self.outcomes if begin <= outcome.at < end]


def summary(outcomes):
    """What went wrong, counted; for messages of assertions."""
    return dict(collections.Counter((str(outcome.code), outcome.answer) for outcome in outcomes
                                    if outcome.code is not None).most_common(5))


def percentile(outcomes, share):
    """Seconds within which this share of them was answered."""
    took = sorted(outcome.took for outcome in outcomes)
    return took[min(len(took) - 1, int(len(took) * share))] if took else float("nan")
