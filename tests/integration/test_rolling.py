# SPDX-License-Identifier: Apache-2.0
"""Liaisons replaced one after the other under load: nobody notices.

Two generations share the port (--reuse-port). Clients have grpcio's ordinary channel settings; one of them
takes a new connection every few queries, and plain sockets knock at the port all the time. The rate is one
that two busy cores carry; grpcio in one Python process, not the liaison, is what limits it.
"""
import signal
import socket
import threading
import time

import pytest

from asking import CPM, LATENCY, ask, query
from client import QUERY
from fixtures import CALM
from liaison import Liaison
from load import Load, is_sanitized, summary
from process import wait_until

GENERATIONS = 10
LATE = 0.3      # s
REQUESTS = [query(ask(*CPM, limit=400)), query(ask(*LATENCY, limit=20))]
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
GOODBYE = bytes([0, 0, 8, 7]) + bytes(13)


class Knocks:
    """Connects, says hello in HTTP/2, waits for the greeting and leaves; remembers every connection that broke.

    Who connects and then says nothing for a second may be left behind: when this thread was not let run for so long, its
    knock shows nothing.
    """

    def __init__(self, port):
        self.port, self.count, self.broken = port, 0, []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _work(self):
        while not self._stop.wait(0.01):
            began = time.monotonic()
            said = began
            try:
                with socket.create_connection(("127.0.0.1", self.port), 20) as knock:
                    knock.sendall(PREFACE)
                    said = time.monotonic()
                    broken = "" if knock.recv(9) else "closed without a greeting"
                    knock.sendall(GOODBYE)
            except OSError as why:
                broken = str(why)
            if said - began < LATE:
                self.count += 1
                self.broken += [broken] if broken else []


def generation(cluster, port, *options):
    liaison = Liaison(cluster.nodes.discovery, *CALM, f"--grpc-port={port}", "--reuse-port", "--drain-delay=100ms",
                      *options)
    return liaison.wait_ready(cluster.nodes.names)


def replace(before, after_ready):
    """The new one is ready: the old one leaves, and its exit status must be 0."""
    before.process.signal(signal.SIGTERM)
    assert before.process.wait(30) == 0, before.log[-3000:]
    assert "stopped gracefully" in before.log
    return after_ready


@pytest.mark.sanitize
@pytest.mark.seconds(200)
def test_ten_replacements_under_load(start):
    cluster = start(["--demo", "--nodes", 2], ["--reuse-port", "--drain-delay=100ms"], ends=True)
    port = cluster.liaison.ports["grpc"]
    wanted = [cluster.client.query_bytes(request) for request in REQUESTS]
    cluster.client.close()
    rate = 15 if is_sanitized() else 60
    serving, began = cluster.liaison, time.monotonic()
    steady = Load(f"127.0.0.1:{port}", REQUESTS, clients=6, rate=rate)
    fresh = Load(f"127.0.0.1:{port}", REQUESTS, clients=2, rate=rate / 3, reconnect=3)
    with steady, fresh, Knocks(port) as knocks:
        for _ in range(GENERATIONS):
            serving = replace(serving, generation(cluster, port))
    asked = steady.outcomes + fresh.outcomes
    print(f"{len(asked)} queries and {knocks.count} connections in {time.monotonic() - began:.0f} s, "
          f"{GENERATIONS} replacements")
    serving.stop()
    assert not steady.failed() and not fresh.failed(), summary(asked)
    assert all(outcome.answer == wanted[outcome.request] for outcome in asked), "an answer differs"
    assert not any("banyandb-incomplete" in outcome.trailers for outcome in asked)
    assert not knocks.broken, knocks.broken[:5]
    assert len(asked) > 5 * GENERATIONS


def test_running_queries_get_the_grace_then_unavailable(start):
    """Also with a second generation on the port: what the old one began is its own."""
    cluster = start(["--demo", "--nodes", 2], ["--reuse-port", "--grace=1s"], ends=True)
    port = cluster.liaison.ports["grpc"]
    second = generation(cluster, port, "--grace=1s")
    cluster.nodes.fault("d1", group="sw_latency", delay_ms=15_000)
    call = cluster.client.method(QUERY).future(REQUESTS[1].SerializeToString(), timeout=30)
    wait_until(lambda: cluster.nodes.stats()["d1"]["requests"], what="the node being asked")
    cluster.liaison.process.signal(signal.SIGTERM)
    second.process.signal(signal.SIGTERM)
    why = call.exception()
    assert why is not None and why.code().name == "UNAVAILABLE", why
    assert "shutting down" in why.details()
    assert cluster.liaison.process.wait(10) == 0 and second.process.wait(10) == 0
    second.kill()
