# SPDX-License-Identifier: Apache-2.0
"""What cannot fit is refused by the first bytes of a node's answer: they tell how many rows there are.

A frame of constants is small, its rows in the answer are not: each has its own time, tags and fields there. The
measure of these tests has long names, so that frames of both versions are far smaller than what becomes of them.
"""
import collections
import contextlib
import random

import grpc
import pytest

from asking import ask, query
from client import rfc3339
from fixtures import require_binary, running, serving
from process import wait_until
from relay import Relay

MIB = 1 << 20
BEGIN_MS = 1_790_000_000_000
SMALL = 4 * MIB         # what a query of the small liaison may have
REFUSED = grpc.StatusCode.RESOURCE_EXHAUSTED
TAGS = [name.ljust(70, "_") for name in ("one", "two", "three", "four")]
ROW = 4 * (70 + 8) + 40     # bytes of the answer, about
EARLY = "the whole answer would have"


def measures(nodes, *groups):
    """The measure in each of these groups, one copy of each row."""
    for name in groups:
        nodes.control(schema=[
            {"action": "insert", "kind": "group", "object": {
                "metadata": {"name": name}, "catalog": "CATALOG_MEASURE",
                "resourceOpts": {"shardNum": 1, "segmentInterval": {"unit": "UNIT_DAY", "num": 1},
                                 "ttl": {"unit": "UNIT_DAY", "num": 7}}}},
            {"action": "insert", "kind": "measure", "object": {
                "metadata": {"group": name, "name": "long"}, "entity": {"tagNames": TAGS[:1]}, "interval": "1m",
                "tagFamilies": [{"name": "default", "tags": [{"name": tag, "type": "TAG_TYPE_STRING"} for tag in TAGS]}],
                "fields": [{"name": "value", "fieldType": "FIELD_TYPE_INT",
                            "encodingMethod": "ENCODING_METHOD_GORILLA",
                            "compressionMethod": "COMPRESSION_METHOD_ZSTD"}]}}])


def rows(nodes, count, names=None, copies=False, version=4):
    """On each of these nodes so many rows of one moment; all columns but the series are constant."""
    names = names or nodes.names
    nodes.control(node={name: {"frame_version": version} for name in nodes.names},
                  timeline={name: {"rows": count, "begin": BEGIN_MS * 1_000_000, "step": 0, "series": count,
                                   "first_series": 0 if copies else number * count, "tag": "x"}
                            for number, name in enumerate(names)})


def wide(limit, groups="first", tags=4, **more):
    begin, end = rfc3339(BEGIN_MS), rfc3339(BEGIN_MS + 1000)
    return query(ask(groups, "long", [f"default.{tag}" for tag in TAGS[:tags]], ["value"], limit=limit,
                     **{"timeRange": {"begin": begin, "end": end}, **more}))


def expect_early(outcome, *parts):
    code, text = outcome
    assert code == REFUSED, text
    for part in (EARLY, "--measure-vectorized-query-memory-mib=", "a lower limit", *parts):
        assert part in text, text


class Scene:
    """Three nodes, and before them a liaison whose queries may have little, and one whose may have a lot."""

    def __init__(self, nodes, small, large):
        self.nodes, self.small, self.large = nodes, small, large
        self.client, self.oracle = small.client(), large.client()

    def refused(self):
        return self.small.metric("bydb_refused_queries_total", reason="query_memory")


@pytest.fixture(scope="module")
def shared_scene():
    require_binary()
    versions, patient = "--measure-frame-versions=3,4", "--dst-broadcast-timeout=60s"
    with running(["--demo", "--nodes", 3], [f"--measure-vectorized-query-memory-mib={SMALL // MIB}", versions, patient],
                 before=lambda nodes: measures(nodes, "first", "second")) as (nodes, small):
        with serving(nodes, [versions, patient]) as large:
            scene = Scene(nodes, small, large)
            yield scene
            scene.client.close()
            scene.oracle.close()


@pytest.fixture
def scene(shared_scene):
    yield shared_scene
    shared_scene.nodes.control(fault={"*": None}, timeline={"*": None}, clear=None)
    shared_scene.small.expect_nothing_alive()


@contextlib.contextmanager
def narrow(rate, *options):
    """(nodes, liaison, the narrow way to d1)"""
    relays = []

    def before(nodes):
        relays.append(Relay(nodes.address("d1"), rate))
        nodes.control(node={"d1": {"announced": relays[0].address}})
        measures(nodes, "first")
    try:
        with running(["--demo", "--nodes", 2], options, before=before) as (nodes, liaison):
            yield nodes, liaison, relays[0]
    finally:
        for relay in relays:
            relay.stop()


@pytest.mark.sanitize
def test_a_million_constant_rows():
    """Hardly anything of the frame's 8 MB comes, and the other node's answer is not waited for."""
    with narrow(MIB // 2, "--measure-vectorized-query-memory-mib=16", "--dst-broadcast-timeout=60s") as found:
        nodes, liaison, way = found
        rows(nodes, 1_000_000, ["d1"])
        nodes.control(fault={"d2": {"hang": True, "topic": "measure"}})
        passed = way.passed
        with liaison.client() as client:
            expect_early(client.query_error(wide(2_000_000), timeout=50),
                         "node d1 answers with 1000000 rows", "1000000 at least", f"at most {16 * MIB} bytes")
        assert way.passed - passed < 2 * MIB, f"{way.passed - passed} bytes came"
        assert liaison.metric("bydb_refused_queries_total", reason="query_memory") == 1
        wait_until(lambda: nodes.stats()["d2"]["cancelled_unanswered"] > 0, 10, "the other call's end")


@pytest.mark.sanitize
@pytest.mark.parametrize("version", [3, 4])
def test_both_versions(scene, version):
    rows(scene.nodes, 20_000, ["d2"], version=version)
    before = scene.refused()
    expect_early(scene.client.query_error(wide(30_000)), "node d2 answers with 20000 rows", f"at most {SMALL} bytes")
    assert scene.refused() == before + 1
    assert len(scene.client.query(wide(2_000)).data_points) == 2_000


@pytest.mark.sanitize
def test_an_answer_with_a_trace(scene):
    """The rows stand behind the trace: they are counted when the message is there, before it is decoded."""
    rows(scene.nodes, 20_000, ["d2"])
    before = scene.refused()
    answer = scene.client.query(wide(30_000, trace=True))
    assert answer.trace.error and not answer.data_points
    assert EARLY in str(answer.trace) and "node d2 answers with 20000 rows" in str(answer.trace)
    assert scene.refused() == before + 1
    answer = scene.client.query(wide(5_000, trace=True))
    assert len(answer.data_points) == 5_000 and not answer.trace.error


@pytest.mark.sanitize
@pytest.mark.parametrize("trace", [False, True])
def test_rows_of_groups_add_up(scene, trace):
    """Each group's rows would fit, and are answered alone."""
    rows(scene.nodes, 7_000, ["d1"])
    for group in ("first", "second"):
        assert len(scene.client.query(wide(20_000, group)).data_points) == 7_000
    if trace:
        answer = scene.client.query(wide(20_000, "first second", trace=True))
        assert answer.trace.error and "14000 at least" in str(answer.trace)
    else:
        expect_early(scene.client.query_error(wide(20_000, "first second")), "14000 at least")
    assert len(scene.client.query(wide(5_000, "first second")).data_points) == 5_000


@pytest.mark.sanitize
@pytest.mark.parametrize("more, found", [
    ({"limit": 100}, 100), ({"limit": 0}, 100), ({"limit": 30_000, "offset": 19_950}, 50),
    ({"limit": 30_000, "offset": 20_000}, 0), ({"limit": 30_000, "offset": 4_294_967_295}, 0),
    ({"limit": 30_000, "top": {"number": 7, "fieldName": "value", "fieldValueSort": "SORT_DESC"}}, 7),
    ({"limit": 30_000, "groupBy": {"tagProjection": {"tagFamilies": [{"name": "default", "tags": TAGS[:1]}]}}}, 1),
    ({"limit": 30_000, "agg": {"function": "AGGREGATION_FUNCTION_COUNT", "fieldName": "value"}}, None),
])
def test_what_is_cut_is_answered(scene, more, found):
    rows(scene.nodes, 20_000, ["d1"])
    code, text = scene.client.query_error(wide(**more))
    assert code is None or (found is None and EARLY not in text), text
    if found is not None:
        assert len(scene.client.query(wide(**more)).data_points) == found


@pytest.mark.sanitize
def test_copies_count_once(scene):
    rows(scene.nodes, 8_000, copies=True)
    assert len(scene.client.query(wide(30_000)).data_points) == 8_000


@pytest.mark.sanitize
@pytest.mark.parametrize("spare", [(), ("--skip-slow-replicas",)])
def test_a_node_that_hangs_is_not_waited_for(spare):
    """Two answers are there, the third never comes: the refusal is told all the same."""
    options = [f"--measure-vectorized-query-memory-mib={SMALL // MIB}", "--dst-broadcast-timeout=60s", *spare]
    with running(["--demo", "--nodes", 3], options, before=lambda nodes: measures(nodes, "first")) as (nodes, liaison):
        nodes.control(fault={"d3": {"hang": True, "topic": "measure"}})
        with liaison.client() as client:
            rows(nodes, 20_000, copies=True)
            expect_early(client.query_error(wide(30_000), timeout=50), "20000 at least")
            assert client.query_error(wide(30_000, trace=True), timeout=50)[0] is None
            nodes.control(fault={"*": None})
            rows(nodes, 2_000, copies=True)
            assert len(client.query(wide(5_000)).data_points) == 2_000


@pytest.mark.seconds(300)
def test_nothing_is_refused_that_would_fit(scene):
    """Around the edge, by chance: what is refused early is larger than what a query may have."""
    chance = random.Random(1130)
    outcomes = collections.Counter()
    for _ in range(60):
        tags = chance.randrange(5)
        edge = SMALL // (ROW if tags == 4 else 78 * tags + 40)
        count = chance.randrange(edge // 10, 2 * edge)
        names = chance.sample(scene.nodes.names, chance.randrange(1, 4))
        rows(scene.nodes, count, names, copies=chance.random() < 0.5, version=chance.choice([3, 4, 4]))
        asked = wide(chance.choice([edge // 10, edge // 3, chance.randrange(edge, 3 * edge)]),
                     chance.choice(["first", "first second"]), tags, offset=chance.choice([0, chance.randrange(edge)]))
        code, text = scene.client.query_error(asked, timeout=60)
        if code is None:
            outcomes["answered"] += 1
        elif EARLY in text:
            outcomes["refused early"] += 1
            size = len(scene.oracle.query_bytes(asked, timeout=60))
            assert size > SMALL, f"{size} bytes would have fitted: {text}"
        else:
            outcomes["refused later"] += 1
            assert code == REFUSED, text
    print(dict(outcomes))
    assert outcomes["refused early"] >= 5 and outcomes["answered"] >= 5
