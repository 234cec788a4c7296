# SPDX-License-Identifier: Apache-2.0
"""A node that is slow, or that is not listened to, is not a dead one: what it has begun to answer is not lost."""
import contextlib
import signal
import time

import grpc
import pytest

from asking import ask, query
from fixtures import require_binary, running
from heartbeat import unless_silent
from process import wait_until
from proto import parse
from relay import Relay

ROWS = 20_000       # of d1: 3.5 MB as a frame
RATE = 1_000_000    # bytes a second, of d1's way back
OPTIONS = ["--data-client-health-check-interval=300ms", "--dst-broadcast-timeout=60s"]
WIDE = query(ask("sw_latency", "endpoint_latency_minute", ["default.tag0", "default.tag1", "default.tag2"], ["value"],
                 limit=3 * ROWS))
QUERY = "/banyandb.measure.v1.MeasureService/Query"


class Scene:
    def __init__(self, nodes, liaison, relay, client):
        self.nodes, self.liaison, self.relay, self.client = nodes, liaison, relay, client

    def begin(self):
        """A large query whose answer is on its way."""
        before = self.relay.passed
        self.liaison.wait_ready(self.nodes.names)
        call = self.client.method(QUERY).future(WIDE.SerializeToString(), timeout=60)
        wait_until(lambda: self.relay.passed > before + 500_000, 20, "the first bytes")
        return call

    def times_down(self):
        return self.liaison.times_told("data node is down")

    def expect_whole(self, call):
        answer = parse("measure.v1.QueryResponse", call.result())
        assert len(answer.data_points) == 3 * ROWS and "banyandb-incomplete" not in dict(call.trailing_metadata())


@pytest.fixture
def scene():
    """d1 behind a narrow way, and three large answers."""
    require_binary()
    with contextlib.ExitStack() as stack:
        relays = []

        def behind_relay(nodes):
            relays.append(Relay(nodes.address("d1"), RATE))
            stack.callback(relays[0].stop)
            nodes.control(node={"d1": {"announced": relays[0].address}},
                          synthetic={"*": {"name": "w3", "rows": ROWS}})
        nodes, liaison = stack.enter_context(running(
            ["--demo", "--nodes", 3], OPTIONS, before=behind_relay, executors=1,
            env={"BYDB_POISON_RELEASED": "0"}))
        yield Scene(nodes, liaison, relays[0], stack.enter_context(liaison.client()))


@pytest.mark.sanitize
@unless_silent
def test_probes_that_wait_behind_a_large_body(scene):
    """Three seconds and a half of body, a probe in each third of a second."""
    before = scene.times_down()
    call = scene.begin()
    scene.expect_whole(call)
    assert scene.times_down() == before


@pytest.mark.sanitize
@unless_silent
def test_a_liaison_that_does_not_read(scene):
    """Stopped for longer than a probe may take: what came meanwhile lies in the socket."""
    before = scene.times_down()
    call = scene.begin()
    scene.liaison.process.signal(signal.SIGSTOP)
    time.sleep(3)
    scene.liaison.process.signal(signal.SIGCONT)
    scene.expect_whole(call)
    assert scene.times_down() == before


@pytest.mark.sanitize
@unless_silent
def test_a_node_that_is_silent_for_a_while(scene):
    """For longer than a probe may take, and not so long that a second connection is given up: it is asked nothing more
    meanwhile, but it may finish what it began."""
    before = scene.times_down()
    call = scene.begin()
    scene.relay.hold(3.1)
    scene.expect_whole(call)
    assert scene.times_down() == before + 1
    scene.liaison.wait_ready(scene.nodes.names)
    scene.expect_whole(scene.begin())


@pytest.mark.sanitize
@unless_silent
def test_a_node_that_is_silent_for_good(scene):
    """It does not answer on a second connection either: nobody waits until the broadcast timeout."""
    call = scene.begin()
    scene.relay.hold()
    with pytest.raises(grpc.RpcError) as raised:
        call.result(timeout=50)
    assert raised.value.code() == grpc.StatusCode.UNKNOWN    # as the Go liaison says it
    text = raised.value.details()
    assert f"rpc error: code = Unavailable desc = data node d1 ({scene.relay.address}) was lost: " in text, text
    assert "try again" in text, text
    scene.relay.release()
    scene.liaison.wait_ready(scene.nodes.names)
    scene.expect_whole(scene.begin())
