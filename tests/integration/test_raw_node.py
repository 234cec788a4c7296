# SPDX-License-Identifier: Apache-2.0
"""A node that writes its answers byte by byte, breaks off anywhere, or lies about its rows.

Whatever it does: the right rows, or a refusal, or an error that says what came; and then all is as before.
"""
import struct

import grpc
import pytest

from asking import ask, query
from client import rfc3339
from datanode import frame3
from fixtures import require_binary, running
from proto import parse
from raw import message
from raw_node import Answer, RawNode
from sliced import BEGIN_MS, LATENCY, only, timeline, total, value

pytestmark = pytest.mark.sanitize

COUNT = 100         # rows of each of two nodes
FIRST = 96          # bytes of an answer: prefix, message, head of the frame, its first column
CANCEL = 8
UNKNOWN, REFUSED = grpc.StatusCode.UNKNOWN, grpc.StatusCode.RESOURCE_EXHAUSTED
REQUESTS = {"rows": query(ask("sw_latency", LATENCY, ["default.endpoint_id"], ["value"], limit=10 * COUNT,
                              timeRange={"begin": rfc3339(BEGIN_MS), "end": rfc3339(BEGIN_MS + 60_000)})),
            "sum": total("SUM", seconds=60)}
LIES = [0, 1, COUNT // 2, COUNT - 1, COUNT + 1, 2 * COUNT, 1 << 20, 1 << 31, (1 << 32) - 1]
LIES_OF_VERSION_3 = [1 << 32, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]


class Scene:
    """The raw node d1 and a well-behaved d2 before a liaison with one executor: one connection to each."""

    def __init__(self, nodes, liaison, raw):
        self.nodes, self.liaison, self.raw, self.client = nodes, liaison, raw, liaison.client()

    def expect_right(self):
        values = [value(number) for number in range(COUNT)]
        found = [point.fields[0].value.int.value for point in self.client.query(REQUESTS["rows"]).data_points]
        assert sorted(found) == sorted(2 * values)
        assert only(self.client.query(REQUESTS["sum"])) == 2 * sum(values)

    def expect_told(self, name, what):
        """Refused as too much, or failed by a text that says whose fault it is."""
        code, text = self.client.query_error(REQUESTS[name])
        self.liaison.process.expect_running()
        assert code is not None, f"{what}: answered with {text}"
        assert code in (UNKNOWN, REFUSED), (what, code, text)
        assert code == REFUSED or "d1" in text, (what, text)


@pytest.fixture(scope="module")
def shared_scene():
    require_binary()
    found = []

    def before(nodes):
        found.append(RawNode(nodes.address("d1")))
        nodes.control(node={"d1": {"announced": found[0].address}})
    try:
        with running(["--demo", "--nodes", 2], ["--aggregation=rows", "--measure-vectorized-query-memory-mib=4",
                                                "--measure-frame-versions=3,4"],
                     before=before, executors=1) as (nodes, liaison):
            scene = Scene(nodes, liaison, found[0])
            timeline(nodes, COUNT)
            yield scene
            scene.client.close()
    finally:
        found[0].stop()


@pytest.fixture
def scene(shared_scene):
    """Before and after each test all rows are right, and nothing is alive."""
    shared_scene.expect_right()
    yield shared_scene
    shared_scene.raw.write = Answer.whole
    shared_scene.liaison.wait_ready(shared_scene.nodes.names)
    shared_scene.expect_right()
    shared_scene.liaison.expect_nothing_alive()


def of_version(scene, version):
    scene.nodes.control(node={name: {"frame_version": version} for name in scene.nodes.names})


# ------------------------------------------------------------------- pieces

@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize("size", [1, 7])
def test_an_answer_in_small_pieces(scene, version, size):
    def write(answer, response):
        answer.begin()
        answer.data(message(response), size)
        answer.end()
    of_version(scene, version)
    scene.raw.write = write
    scene.expect_right()


# --------------------------------------------------------------------- cuts

def broken_off(at, end):
    """Writes the first bytes of an answer."""
    def write(answer, response):
        assert len(message(response)) > FIRST
        answer.begin()
        answer.data(message(response)[:at])
        end(answer)
    return write


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("end", [Answer.end, lambda answer: answer.reset(CANCEL)], ids=["status 0", "reset"])
def test_an_answer_that_breaks_off(scene, name, end):
    for at in range(FIRST):
        scene.raw.write = broken_off(at, end)
        scene.expect_told(name, f"broken off after {at} bytes")


@pytest.mark.parametrize("at", [0, 3, 5, 40, 95])
def test_a_connection_that_ends_within_an_answer(scene, at):
    scene.raw.write = broken_off(at, Answer.close)
    scene.expect_told("rows", f"closed after {at} bytes")


def with_body(response, change):
    changed = parse("cluster.v1.SendResponse", response)
    changed.body = change(changed.body)
    return changed.SerializeToString()


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("version", [3, 4])
def test_a_frame_cut_short(scene, name, version):
    """The message around it is whole. Without a single byte it would mean that there are no rows."""
    of_version(scene, version)
    for size in range(1, FIRST):
        scene.raw.write = lambda answer, response: answer.whole(with_body(response, lambda body: body[:size]))
        scene.expect_told(name, f"a frame of {size} bytes")


# --------------------------------------------------------------------- lies

def claiming(frame, rows):
    """The frame with another number of rows in its head."""
    if frame[4] == 4:
        return frame[:8] + struct.pack("<I", rows) + frame[12:]
    assert frame[4] == 3 and frame[5] == COUNT < 128
    return frame[:5] + frame3.uvarint(rows) + frame[6:]


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("version, lies", [(3, LIES + LIES_OF_VERSION_3), (4, LIES)], ids=["version 3", "version 4"])
def test_a_head_that_lies(scene, name, version, lies):
    """Of more rows than there are, and of fewer."""
    of_version(scene, version)
    for rows in lies:
        scene.raw.write = lambda answer, response: answer.whole(with_body(response, lambda body: claiming(body, rows)))
        scene.expect_told(name, f"{rows} rows claimed of {COUNT}")
