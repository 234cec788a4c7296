# SPDX-License-Identifier: Apache-2.0
"""A node that is frozen, killed, moved, unreachable or slow costs little, under load, and no answer is wrong.

CPM has a copy of each row on a second node: its answers are whole all the time. LATENCY has none: its answers are
whole, or they say which node is missing, or they failed because they were asked before the node was known to be
away.
"""
import contextlib
import json
import socket
import time

import grpc
import pytest

from apart import Apart
from asking import CPM, LATENCY, ask, query
from client import rfc3339
from fixtures import require_binary
from heartbeat import unless_silent
from liaison import Liaison
from load import Load, is_sanitized, percentile, summary
from process import wait_until

RATE = 10 if is_sanitized() else 40
OPTIONS = ["--dst-broadcast-timeout=2s", "--data-client-health-check-interval=1s"]
PATIENCE = 12        # s, of clients: far more than a query may wait for a node


def lately(measure):
    now = int(time.time() * 1000)
    return query({**ask(*measure, limit=10_000), "timeRange": {
        "begin": rfc3339(now - 2 * 3_600_000), "end": rfc3339(now + 3_600_000)}})


class Scene:
    def __init__(self, apart, liaison):
        self.apart, self.liaison = apart, liaison
        self.requests = [lately(CPM), lately(LATENCY)]
        with liaison.client() as client:
            self.whole = [client.query_bytes(request) for request in self.requests]

    def load(self):
        return Load(self.liaison.address, self.requests, clients=6, rate=RATE, timeout=PATIENCE)

    def until_down(self, name):
        """When it was known to all executors."""
        self.liaison.wait_metric(lambda value: value == 0, "bydb_node_up", 20, node=name)
        return time.monotonic()

    def until_used(self, name):
        """When all executors asked it again."""
        wait_until(lambda: self.is_used(name), 20, f"{name} being used")
        return time.monotonic()

    def is_used(self, name):
        found = [node for node in json.loads(self.liaison.get("/nodes")[1])["nodes"] if node["name"] == name]
        return bool(found) and found[0].get("breaker") == "closed" and found[0]["executors_up"] == self.liaison.executors

    def asked(self, name):
        """How often it has been asked."""
        return self.liaison.metric("banyandb_queue_pub_total_started", remote_node=name)

    def expect_right(self, load, known, back, used, name):
        """`known`: from when on it was known to be down; `back`: when it was there again; `used`: from when on it was
        asked again.

        Listed at another address, it is a second node that lacks until it has said who it is: two
        can be more than there are copies, and then an answer that is whole cannot be called so.
        """
        for outcome in load.outcomes:
            is_whole = outcome.answer == self.whole[outcome.request]
            lacks = outcome.trailers.get("banyandb-incomplete")
            if outcome.code is not None:
                assert outcome.request == 1 and outcome.at < known, (outcome.code, outcome.answer)
                assert outcome.code == grpc.StatusCode.UNKNOWN
            elif outcome.request == 0:
                assert is_whole and (lacks is None or back < outcome.at + outcome.took and name in lacks.split(", "))
            elif lacks is None:
                assert is_whole, "rows are missing unsaid"
            else:    # at another address it is named by that, too, until it has said who it is
                assert name in lacks.split(", ") and not is_whole, lacks
        self.expect_whole(load.between(used, float("inf")))

    def expect_whole(self, outcomes):
        assert outcomes and all(outcome.answer == self.whole[outcome.request] for outcome in outcomes), "not used again"


@pytest.fixture
def scene():
    require_binary()
    with contextlib.ExitStack() as stack:
        def begin(*options):
            apart = Apart("--demo", "--nodes", 3)
            stack.callback(apart.stop)
            liaison = Liaison(apart.discovery, *OPTIONS, *options)
            stack.callback(liaison.kill)
            return Scene(apart, liaison.wait_ready(apart.names))
        yield begin


def report(what, load, begin, known, back):
    before = [outcome for outcome in load.between(0, begin) if outcome.at + outcome.took < begin]
    print(f"{what}: {len(load.outcomes)} queries; p99 before {percentile(before, .99) * 1000:.0f} ms, "
          f"known after {known - begin:.1f} s, p99 then {percentile(load.between(known, back), .99) * 1000:.0f} ms, "
          f"failed {summary(load.outcomes)}")


def end(scene):
    scene.liaison.expect_nothing_alive()
    scene.liaison.stop()


@pytest.mark.sanitize
@unless_silent
def test_a_frozen_node(scene):
    scene = scene()
    with scene.load() as load:
        time.sleep(2)
        begin = time.monotonic()
        scene.apart.freeze("d2")
        known, asked = scene.until_down("d2"), scene.asked("d2")
        time.sleep(5)
        assert scene.asked("d2") == asked, "queries wait for it though it is known to be down"
        back = time.monotonic()
        scene.apart.thaw("d2")
        used = scene.until_used("d2")
        time.sleep(2)
    report("frozen", load, begin, known, back)
    scene.expect_right(load, known, back, used, "d2")
    end(scene)


@pytest.mark.sanitize
@unless_silent
def test_a_killed_node_that_comes_back_elsewhere(scene):
    scene = scene()
    with scene.load() as load:
        time.sleep(2)
        begin = time.monotonic()
        scene.apart.kill("d3")
        known, asked = scene.until_down("d3"), scene.asked("d3")
        time.sleep(3)
        scene.apart.start("d3")
        assert scene.asked("d3") == asked, "queries wait for it though it is known to be down"
        back = time.monotonic()
        scene.apart.list()
        used = scene.until_used("d3")
        time.sleep(2)
    report("killed", load, begin, known, back)
    scene.expect_right(load, known, back, used, "d3")
    end(scene)


@contextlib.contextmanager
def black_hole():
    """An address at which connections are neither accepted nor refused: its queue is full."""
    with socket.socket() as listening, contextlib.ExitStack() as stack:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield "127.0.0.1:%d" % listening.getsockname()[1]


@pytest.mark.sanitize
@pytest.mark.parametrize("how", ["refused", "black hole"])
@unless_silent
def test_a_node_whose_address_leads_nowhere(scene, how):
    """It says who it is, but queries cannot reach it: nobody waits for that."""
    scene = scene()
    with contextlib.ExitStack() as stack:
        nowhere = stack.enter_context(black_hole()) if how == "black hole" else "127.0.0.1:1"
        scene.apart.list(["d1", "d2"])
        scene.until_down("d3")
        scene.apart.nodes["d3"].control(node={"d3": {"announced": nowhere}})
        with scene.load() as before:    # a liaison that has just started waits 3 s for its first connections
            time.sleep(4)
        scene.apart.list()
        scene.liaison.wait_metric(lambda value: value == 3, "bydb_data_nodes", state="listed")
        with scene.load() as load:
            time.sleep(4)
        assert len(load.outcomes) > len(before.outcomes) / 4, "queries wait for a connection"
        assert not load.failed(), summary(load.outcomes)
        for outcome in load.outcomes:
            assert outcome.trailers.get("banyandb-incomplete") == (None if outcome.request == 0 else "d3")
        scene.apart.nodes["d3"].control(node={"d3": {"announced": None}})
        scene.apart.list(["d1", "d2"])
        scene.liaison.wait_metric(lambda value: value == 1, "bydb_data_nodes", state="left")
        begin = time.monotonic()
        scene.apart.list()
        scene.until_used("d3")
        print(f"{how}: used {time.monotonic() - begin:.1f} s after it said where it is")
    end(scene)


@unless_silent
def test_a_slow_node(scene):
    """Slower than the others, but within the timeout: waited for, and never taken for dead."""
    scene = scene("--dst-broadcast-timeout=10s")
    scene.apart.nodes["d1"].control(fault={"d1": {"delay_ms": 600}})
    with scene.load() as load:
        time.sleep(5)
    assert not load.failed(), summary(load.outcomes)
    assert all(outcome.answer == scene.whole[outcome.request] and not outcome.trailers.get("banyandb-incomplete")
               for outcome in load.outcomes)
    assert scene.liaison.times_told("data node is down") == 0
    end(scene)


@unless_silent
def test_a_node_that_answers_health_checks_only(scene):
    """Its breaker opens; then one query at a time tries it, until it answers again."""
    scene = scene("--dst-broadcast-timeout=1s")
    scene.apart.nodes["d2"].control(fault={"d2": {"hang": True}})
    with scene.load() as load:
        known, asked = scene.until_down("d2"), scene.asked("d2")
        time.sleep(6)
        over, tried = time.monotonic(), scene.asked("d2") - asked
        scene.apart.nodes["d2"].control(fault={"d2": None})
        used = scene.until_used("d2")
        time.sleep(2)
    then = load.between(known, over)
    print(f"{tried:.0f} of {len(then)} queries asked it while it was tried")
    assert tried <= scene.liaison.executors * (over - known) and tried < len(then) / 4
    scene.expect_whole(load.between(used, float("inf")))
    end(scene)
