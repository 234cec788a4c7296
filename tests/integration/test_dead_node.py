# SPDX-License-Identifier: Apache-2.0
"""A node that is frozen, killed, moved, unreachable or slow costs little, under load, and no answer is wrong.

CPM has a copy of each row on a second node: its answers are whole all the time. LATENCY has none: its answers are
whole, or they say which node is missing, or they failed because they were asked before the node was known to be
away.
"""
import contextlib
import socket
import time

import grpc
import pytest

from apart import Apart
from asking import CPM, LATENCY, ask, query
from client import rfc3339
from fixtures import require_binary
from liaison import Liaison
from load import Load, is_sanitized, percentile, summary
from process import wait_until

TIMEOUT = 2          # s, --dst-broadcast-timeout
SLACK = 1.5          # s, that a busy machine may add to anything
BACK = 5             # s, until a node that is back is used again
RATE = 10 if is_sanitized() else 40
OPTIONS = [f"--dst-broadcast-timeout={TIMEOUT}s", "--data-client-health-check-interval=1s"]


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
        return Load(self.liaison.address, self.requests, clients=6, rate=RATE)

    def is_down(self, name):
        return self.liaison.metric("bydb_node_up", node=name) == 0

    def is_up(self, name):
        return self.liaison.metric("bydb_node_up", node=name) == self.liaison.executors

    def partial(self, name):
        """What LATENCY answers while this node is known to be down."""
        with self.liaison.client() as client:
            response, trailers = client.query_with_trailers(self.requests[1])
            assert trailers.get("banyandb-incomplete") == name
            return response.SerializeToString()

    def expect_right(self, load, known, back, name):
        """`known`: from when on it was known to be down; `back`: when it was there again.

        Listed at another address, it is a second node that lacks until it has said who it is: two
        can be more than there are copies, and then an answer that is whole cannot be called so.
        """
        for outcome in load.outcomes:
            is_whole = outcome.answer == self.whole[outcome.request]
            lacks = outcome.trailers.get("banyandb-incomplete")
            assert outcome.took < TIMEOUT + SLACK, f"waited {outcome.took:.2f} s"
            if outcome.code is not None:
                assert outcome.request == 1 and outcome.at < known, (outcome.code, outcome.answer)
                assert outcome.code == grpc.StatusCode.UNKNOWN
            elif outcome.request == 0:
                assert is_whole and (lacks is None or back < outcome.at + outcome.took and name in lacks.split(", "))
            elif lacks is None:
                assert is_whole, "rows are missing unsaid"
            else:    # at another address it is named by that, too, until it has said who it is
                assert name in lacks.split(", ") and not is_whole, lacks
        late = load.between(back + BACK, float("inf"))
        assert late and all(outcome.answer == self.whole[outcome.request] for outcome in late), "not used again"
        waited = [outcome.took for outcome in load.between(known, back) if outcome.took > TIMEOUT]
        assert not waited, f"{len(waited)} queries waited though the node was known to be down"


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
def test_a_frozen_node(scene):
    scene = scene()
    with scene.load() as load:
        time.sleep(2)
        begin = time.monotonic()
        scene.apart.freeze("d2")
        wait_until(lambda: scene.is_down("d2"), 10, "the liaison noticing")
        known = time.monotonic()
        time.sleep(5)
        back = time.monotonic()
        scene.apart.thaw("d2")
        wait_until(lambda: scene.is_up("d2"), BACK, "d2 being used again")
        time.sleep(max(0, back + BACK + 1 - time.monotonic()))
    report("frozen", load, begin, known, back)
    scene.expect_right(load, known, back, "d2")
    end(scene)


@pytest.mark.sanitize
def test_a_killed_node_that_comes_back_elsewhere(scene):
    scene = scene()
    with scene.load() as load:
        time.sleep(2)
        begin = time.monotonic()
        scene.apart.kill("d3")
        wait_until(lambda: scene.is_down("d3"), 10, "the liaison noticing")
        known = time.monotonic()
        time.sleep(3)
        scene.apart.start("d3")
        back = time.monotonic()
        scene.apart.list()
        wait_until(lambda: scene.is_up("d3"), BACK, "d3 being used again")
        time.sleep(max(0, back + BACK + 1 - time.monotonic()))
    report("killed", load, begin, known, back)
    scene.expect_right(load, known, back, "d3")
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
def test_a_node_whose_address_leads_nowhere(scene, how):
    """It says who it is, but queries cannot reach it: nobody waits for that."""
    scene = scene()
    with contextlib.ExitStack() as stack:
        nowhere = stack.enter_context(black_hole()) if how == "black hole" else "127.0.0.1:1"
        scene.apart.list(["d1", "d2"])
        wait_until(lambda: scene.is_down("d3"), 10, "d3 being gone")
        scene.apart.nodes["d3"].control(node={"d3": {"announced": nowhere}})
        scene.apart.list()
        time.sleep(3)    # a liaison that has just started waits that long for its first connections
        with scene.load() as load:
            time.sleep(5)
        assert max(outcome.took for outcome in load.outcomes) < TIMEOUT
        assert not load.failed(), summary(load.outcomes)
        for outcome in load.outcomes:
            assert outcome.trailers.get("banyandb-incomplete") == (None if outcome.request == 0 else "d3")
        scene.apart.nodes["d3"].control(node={"d3": {"announced": None}})
        scene.apart.list(["d1", "d2"])
        scene.liaison.wait_metric(lambda value: value == 1, "bydb_data_nodes", state="left")
        begin = time.monotonic()
        scene.apart.list()
        wait_until(lambda: scene.is_up("d3"), BACK, "d3 being used")
        print(f"{how}: used {time.monotonic() - begin:.1f} s after it said where it is")
    end(scene)


def test_a_slow_node(scene):
    """Slower than the others, but within the timeout: waited for, and never taken for dead."""
    scene = scene()
    scene.apart.nodes["d1"].control(fault={"d1": {"delay_ms": 600}})
    with scene.load() as load:
        time.sleep(5)
    assert not load.failed(), summary(load.outcomes)
    assert all(outcome.answer == scene.whole[outcome.request] and not outcome.trailers.get("banyandb-incomplete")
               for outcome in load.outcomes)
    assert scene.is_up("d1")
    end(scene)


def test_a_node_that_answers_health_checks_only(scene):
    """Its breaker opens; then one query at a time tries it, until it answers again."""
    scene = scene("--dst-broadcast-timeout=1s")
    scene.apart.nodes["d2"].control(fault={"d2": {"hang": True}})
    with scene.load() as load:
        wait_until(lambda: scene.is_down("d2"), 20, "the breaker")
        known = time.monotonic()
        time.sleep(6)
        end_of_trouble = time.monotonic()
        scene.apart.nodes["d2"].control(fault={"d2": None})
        time.sleep(BACK + 1)
    then = load.between(known + 0.1, end_of_trouble)
    waited = [outcome for outcome in then if outcome.took > 0.9]
    print(f"{len(waited)} of {len(then)} queries waited while it was tried")
    assert len(waited) <= 10 and len(waited) < len(then) / 4
    late = load.between(end_of_trouble + BACK, float("inf"))
    assert late and all(outcome.answer == scene.whole[outcome.request] for outcome in late)
    end(scene)
