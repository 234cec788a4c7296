# SPDX-License-Identifier: Apache-2.0
"""Answers that lack nodes: when they are complete all the same, and what becomes of them when they are not.

Three nodes unless a test says otherwise. CPM has a copy of each row on a second node, LATENCY has none.
"""
import time

import grpc
import pytest

from asking import CPM, CPM_ROWS, LATENCY, LATENCY_ROWS, ask, execution, query
from client import QUERY, rfc3339
from process import wait_until
from proto import parse

UNKNOWN, UNAVAILABLE = grpc.StatusCode.UNKNOWN, grpc.StatusCode.UNAVAILABLE
SILENT = ["--dst-broadcast-timeout=4s"]     # long enough for those that are only slow
THREE = ["--demo", "--nodes", 3]
DAY = {"unit": "UNIT_DAY", "num": 1}
HOUR_MS = 3_600_000

pytestmark = pytest.mark.sanitize


def since(begin_ms, measure=CPM, **more):
    """From then on. (asking.query asks from 1970 on, when no node had been made, so nothing is ever excused.)"""
    times = {"begin": rfc3339(begin_ms), "end": rfc3339(4_000_000_000_000)}
    return query({**ask(*measure, limit=10_000), "timeRange": times, **more})


def lately(measure=CPM):
    return since(int(time.time() * 1000) - 2 * HOUR_MS, measure)


def asked(cluster, request):
    """(rows, names in the trailer)"""
    response, trailers = cluster.client.query_with_trailers(request)
    return len(response.data_points), trailers.get("banyandb-incomplete")


def take_down(cluster, *names):
    cluster.nodes.control(stop=list(names))
    for name in names:
        cluster.liaison.wait_metric(lambda value: value == 0, "bydb_node_up", node=name)


# ------------------------------------------------------------- down before the query


@pytest.mark.parametrize("mode", ["mark", "serve", "fail"])
def test_one_of_two_copies_is_enough(start, mode):
    cluster = start(THREE, [f"--incomplete={mode}"])
    take_down(cluster, "d3")
    assert asked(cluster, lately()) == (CPM_ROWS, None)
    if mode == "fail":
        code, text = cluster.client.query_error(lately(LATENCY))
        assert code == UNAVAILABLE and "d3" in text and "--incomplete=fail" in text, text
    else:
        rows, names = asked(cluster, lately(LATENCY))
        assert 0 < rows < LATENCY_ROWS and names == "d3"


def test_more_missing_than_copies(start):
    cluster = start(THREE)
    take_down(cluster, "d1", "d3")
    rows, names = asked(cluster, lately())
    assert rows <= CPM_ROWS and names == "d1, d3"


# --------------------------------------------------------------- lost on the way

LOSSES = {"silent": {"hang": True}, "cut": {"close": True}, "a status of the way": {"status": {
    "code": "UNAVAILABLE", "message": "the server is shutting down"}}, "cancelled by the node": {"status": {
    "code": "CANCELLED", "message": "the server is shutting down"}}}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("mode", ["mark", "serve", "fail"])
def test_a_node_is_lost_on_the_way(start, mode, loss):
    cluster = start(THREE, [*SILENT, f"--incomplete={mode}"])
    cluster.nodes.fault("d2", **LOSSES[loss])
    assert asked(cluster, lately()) == (CPM_ROWS, None), "copies are on the others"
    cluster.liaison.wait_ready(cluster.nodes.names)
    if mode == "serve":
        rows, names = asked(cluster, lately(LATENCY))
        assert 0 < rows < LATENCY_ROWS and names == "d2"
    elif mode == "fail":
        code, text = cluster.client.query_error(lately(LATENCY))
        assert code == UNAVAILABLE and "d2" in text and "--incomplete=fail" in text, text
    else:
        def fails():
            """Not while an executor's connection is not made anew: it knows that before it asks, and marks its answer."""
            code, text = cluster.client.query_error(lately(LATENCY))
            return code == UNKNOWN and "rpc error: code = " in text
        wait_until(fails, what="a query that loses d2 and fails")


def test_two_are_lost_of_two_copies(start):
    cluster = start(THREE, SILENT)
    cluster.nodes.control(fault={"d1": {"hang": True}, "d3": {"hang": True}})
    code, text = cluster.client.query_error(lately())
    assert code == UNKNOWN and "DeadlineExceeded" in text, text


def test_nobody_is_left(start):
    cluster = start(["--demo", "--nodes", 2], [*SILENT, "--incomplete=serve"])
    cluster.nodes.fault("*", hang=True)
    code, text = cluster.client.query_error(lately())
    assert code == UNKNOWN and "DeadlineExceeded" in text, text


@pytest.mark.parametrize("mode", ["mark", "serve", "fail"])
def test_what_a_node_says_is_no_loss(start, mode):
    cluster = start(THREE, [f"--incomplete={mode}"])
    cluster.nodes.fault("d2", error="the disk is on fire")
    assert cluster.client.query_error(lately()) == (UNKNOWN, execution("service_cpm_minute", "the disk is on fire"))
    cluster.nodes.fault("d2", no_message=True)
    assert cluster.client.query_error(lately())[0] == UNKNOWN


def test_two_groups_one_with_copies(start):
    """What is lost is weighed for each group of its own."""
    cluster = start(["--empty", "--nodes", 3], [*SILENT, "--incomplete=serve"],
                    before=lambda nodes: make_groups(nodes, one=0, two=1))
    both = since(int(time.time() * 1000), ("one two", "thing", ["default.id"], ["value"]))
    assert asked(cluster, both) == (0, None)
    cluster.nodes.fault("d3", group="two", hang=True)
    assert asked(cluster, both) == (0, "d3")    # nobody knows that d3 would have answered for "one" in time


# ------------------------------------------------------------------ who was away when


def make_groups(nodes, **replicas):
    for name, copies in replicas.items():
        nodes.control(schema=[
            {"action": "insert", "kind": "group", "object": group(name, copies)},
            {"action": "insert", "kind": "measure", "object": {
                "metadata": {"group": name, "name": "thing"}, "entity": {"tagNames": ["id"]}, "interval": "1m",
                "tagFamilies": [{"name": "default", "tags": [{"name": "id", "type": "TAG_TYPE_STRING"}]}],
                "fields": [{"name": "value", "fieldType": "FIELD_TYPE_INT",
                            "encodingMethod": "ENCODING_METHOD_GORILLA",
                            "compressionMethod": "COMPRESSION_METHOD_ZSTD"}]}}])


def group(name, copies):
    return {"metadata": {"name": name}, "catalog": "CATALOG_MEASURE",
            "resourceOpts": {"shardNum": 1, "replicas": copies, "segmentInterval": DAY,
                             "ttl": {"unit": "UNIT_DAY", "num": 7}}}


def write(cluster, count, node):
    """So many rows of now, to this node alone: the others are down."""
    now = rfc3339(int(time.time() * 1000))
    cluster.nodes.control(write=[{"group": "fresh", "measure": "thing", "nodes": [node], "rows": [
        {"timestamp": now, "tagFamilies": [{"tags": [{"str": {"value": f"{node}-{number}"}}]}],
         "fields": [{"int": {"value": number}}]} for number in range(count)]}])


@pytest.mark.parametrize("restarted", [False, True])
def test_one_after_the_other_was_down(start, restarted):
    """Ten rows went to d1 while d2 was down, ten to d2 while d1 was: with d1 down, ten of twenty are there."""
    cluster = start(["--empty", "--nodes", 2], before=lambda nodes: make_groups(nodes, fresh=1))
    begin = int(time.time() * 1000)
    time.sleep(0.05)
    thing = ("fresh", "thing", ["default.id"], ["value"])
    take_down(cluster, "d2")
    assert asked(cluster, since(begin, thing)) == (0, None), "d1 was there all the time"
    write(cluster, 10, "d1")
    assert asked(cluster, since(begin, thing)) == (10, None)
    cluster.nodes.control(start={"d2": {} if restarted else {"created_at": "2026-01-01T00:00:00Z"}})
    cluster.liaison.wait_ready(cluster.nodes.names)
    take_down(cluster, "d1")
    write(cluster, 10, "d2")
    assert asked(cluster, since(begin, thing)) == (10, "d1")
    time.sleep(0.05)
    assert asked(cluster, since(int(time.time() * 1000) + 50, thing)) == (0, None), "of what came since, d2 has all"


@pytest.mark.parametrize("before, after", [(0, 1), (1, 0)])
def test_replicas_changed_meanwhile(start, before, after):
    """Rows from before were placed by the old figure."""
    cluster = start(["--empty", "--nodes", 2], before=lambda nodes: make_groups(nodes, fresh=before))
    begin = int(time.time() * 1000)
    time.sleep(0.05)
    thing = ("fresh", "thing", ["default.id"], ["value"])
    cluster.nodes.control(schema=[{"action": "update", "kind": "group", "object": group("fresh", after)}])
    changed = int(time.time() * 1000) + 1
    take_down(cluster, "d2")
    wanted = [(0, "d2"), (0, None if after else "d2")]
    # By the old figure alone both would be alike: so this is when the change is seen.
    wait_until(lambda: [asked(cluster, since(moment, thing)) for moment in (begin, changed)] == wanted,
               what="the change of the figure")


# --------------------------------------------------------------- listed, and not listed


def test_a_listed_node_that_was_never_reached(start):
    cluster = start(THREE)
    cluster.nodes.list_also("127.0.0.1:1")
    wait_until(lambda: asked(cluster, lately(LATENCY)) == (LATENCY_ROWS, "127.0.0.1:1"), 10, "the ghost being missed")
    assert asked(cluster, lately()) == (CPM_ROWS, None)
    take_down(cluster, "d3")
    assert asked(cluster, lately())[1] == "127.0.0.1:1, d3"


def test_a_node_that_left_is_missed_for_a_while(start):
    cluster = start(THREE, ["--node-forget-after=8s"])
    cluster.nodes.control(discovery=["d1", "d2"])
    wait_until(lambda: asked(cluster, lately(LATENCY))[1] == "d3", 10, "d3 being missed")
    assert asked(cluster, lately()) == (CPM_ROWS, None)
    wait_until(lambda: asked(cluster, lately(LATENCY))[1] is None, 20, "d3 being forgotten")


# ----------------------------------------------------------------- slow copies


def test_slow_copies_are_not_waited_for(start):
    cluster = start(THREE, ["--skip-slow-replicas", "--dst-broadcast-timeout=60s"])
    cluster.nodes.fault("d1", hold=True)
    assert asked(cluster, lately()) == (CPM_ROWS, None)
    call = cluster.client.method(QUERY).future(lately(LATENCY).SerializeToString(), timeout=30)
    wait_until(lambda: all(any(request["group"] == "sw_latency" for request in stats["requests"])
                           for stats in cluster.nodes.stats().values()), what="all nodes being asked")
    cluster.nodes.fault("d1")
    found = parse("measure.v1.QueryResponse", call.result()).data_points
    assert len(found) == LATENCY_ROWS, "nobody else has these rows"
    cluster.liaison.expect_nothing_alive()
