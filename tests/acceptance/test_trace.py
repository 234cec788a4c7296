# SPDX-License-Identifier: Apache-2.0
"""Traces beyond the recorded ones: nodes' traces of a TopN job, stages, and that the order of arrival tells nothing."""
import base64
import datetime

import pytest

import awkward
from asking import CPM, LATENCY, ask, query
from client import rfc3339
from fixtures import require_binary, running, serving
from proto import message
from shared import HAS_SUITE, SUITE
from traces import is_of_node, spans_of, tags_of, tree_of

MAX_CHILDREN = 20
MINUTE_MS = 60_000
SUM, DESC = 5, 1


@pytest.fixture(scope="module")
def demo():
    """(nodes, client, client of a liaison with --topn=range)"""
    require_binary()
    with running(["--demo", "--nodes", 3]) as (nodes, liaison), serving(nodes, ["--topn=range"]) as by_range:
        with liaison.client() as client, by_range.client() as range_client:
            yield nodes, client, range_client


def topn(nodes, minutes=60, **more):
    last = int(datetime.datetime.fromisoformat(nodes.t0.replace("Z", "+00:00")).timestamp() * 1000)
    last = last // MINUTE_MS * MINUTE_MS
    return message("measure.v1.TopNRequest", {
        "groups": ["sw_metric"], "name": "service_instance_cpm_minute_topn", "topN": 3, "agg": SUM,
        "fieldValueSort": DESC, "trace": True,
        "timeRange": {"begin": rfc3339(last - (minutes - 1) * MINUTE_MS), "end": rfc3339(last)}, **more})


def execution_of(response):
    (root,) = response.trace.spans
    (execution,) = root.children
    return execution


def in_turn(nodes, topic, names):
    """Nodes answer in this order."""
    nodes.control(fault={name: {"topic": topic, "delay_ms": 40 * place} for place, name in enumerate(names)})


@pytest.mark.sanitize
def test_a_topn_shows_its_nodes(demo):
    nodes, client, _ = demo
    for names in (["d1", "d2", "d3"], ["d3", "d1", "d2"], ["d3", "d2", "d1"]):
        in_turn(nodes, "topn", names)
        response = client.topn(topn(nodes))
        execution = execution_of(response)
        assert [span.message for span in execution.children] == ["data-d1", "data-d2", "data-d3"]
        assert all(child.children for child in execution.children)
        assert [tag.key for tag in execution.tags] == ["request", "nodeSelectors", "response_count", "list_count",
                                                       "peak_charge_bytes"]
        assert execution.duration > 0 and execution.HasField("end_time") and not response.trace.error
    nodes.control(fault={"*": None})
    assert not client.topn(topn(nodes, trace=False)).HasField("trace")


@pytest.mark.sanitize
def test_a_topn_by_intervals_shows_the_first_of_its_nodes(demo):
    nodes, _, client = demo
    nodes.control(clear=None)
    execution = execution_of(client.topn(topn(nodes)))
    asked = sum(len(stats["requests"]) for stats in nodes.stats().values())
    assert asked == 60 * 3
    assert [span.message for span in execution.children] == [
        f"data-d{at % 3 + 1}" for at in range(MAX_CHILDREN)]
    assert tags_of(execution)["ignored_child_spans"] == str(asked - MAX_CHILDREN)


@pytest.mark.sanitize
def test_a_topn_that_fails_shows_who_answered(demo):
    nodes, client, _ = demo
    nodes.control(fault={"d2": {"topic": "topn", "error": "enough"}})
    response = client.topn(topn(nodes))
    nodes.control(fault={"*": None})
    execution = execution_of(response)
    assert response.trace.error and execution.error and not response.lists
    assert [span.message for span in execution.children] == ["data-d1", "data-d3"]
    assert tags_of(execution)["error_msg"].endswith(": enough")


@pytest.mark.sanitize
@pytest.mark.parametrize("place", [0, 1], ids=["distinct", "range"])
def test_a_traced_topn_whose_node_fails(demo, place):
    """Such a node sends the trace of its failure alone, which is not an answer without entities."""
    nodes, *clients = demo
    failed = message("measure.v1.TopNResponse", {"trace": {"error": True, "spans": [
        {"message": "data-d2", "error": True, "tags": [{"key": "error_msg", "value": "the disk is on fire"}]}]}})
    answer = message("cluster.v1.SendResponse")
    answer.body = failed.SerializeToString()
    nodes.control(replay={"d2": [["sw_metric", base64.b64encode(answer.SerializeToString()).decode()]]})
    response = clients[place].topn(topn(nodes, minutes=1))
    nodes.control(replay=None)
    execution = execution_of(response)
    assert response.trace.error and execution.error and not response.lists
    (told,) = [span for span in execution.children if span.message == "data-d2"]
    assert told.error and tags_of(told)["error_msg"] == "the disk is on fire"


@pytest.mark.sanitize
@pytest.mark.parametrize("measure", [CPM, LATENCY], ids=["with copies", "without"])
def test_arrival_does_not_show(demo, measure):
    nodes, client, _ = demo
    request = query(ask(*measure, trace=True))
    trees = []
    for names in (["d1", "d2", "d3"], ["d3", "d1", "d2"], ["d2", "d3", "d1"]):
        in_turn(nodes, "measure", names)
        trace = client.query(request).trace
        assert [span.message for span in spans_of(trace) if is_of_node(span)] == ["data-d1", "data-d2", "data-d3"]
        trees.append(tree_of(trace))
    nodes.control(fault={"*": None})
    assert trees[0] == trees[1] == trees[2]


@pytest.mark.sanitize
def test_the_broadcast_that_failed_is_told(demo):
    nodes, client, _ = demo
    request = query(ask(*LATENCY, trace=True))
    nodes.control(fault={"d2": {"topic": "measure", "error": "enough"}})
    (broadcast,) = execution_of(client.query(request)).children
    assert broadcast.error and tags_of(broadcast)["response_count"] == "2"
    assert [span.message for span in broadcast.children] == ["data-d1", "data-d3"]
    nodes.control(fault={"d2": {"topic": "measure", "version_byte": 9}})
    (broadcast,) = execution_of(client.query(request)).children
    assert broadcast.error and "node d2: measure frame of version 9 found" in tags_of(broadcast)["error_msg"]
    nodes.control(fault={"*": None})


@pytest.mark.sanitize
def test_nobody_to_ask():
    require_binary()
    with running(["--demo", "--nodes", 1], ["--data-client-health-check-interval=500ms"]) as (nodes, liaison):
        with liaison.client() as client:
            nodes.control(stop=["d1"])
            liaison.wait_metric(lambda value: value == 0, "bydb_node_up", node="d1")
            execution = execution_of(client.query(query(ask(*CPM, trace=True))))
            (broadcast,) = execution.children
            assert execution.error and broadcast.error and broadcast.message == "broadcast-rows"
            assert [tag.key for tag in broadcast.tags] == ["node_count", "broadcast_timeout_ms", "time_range",
                                                           "error_msg"]
            execution = execution_of(client.topn(topn(nodes)))
            assert execution.error and "no active nodes" in tags_of(execution)["error_msg"]
            nodes.control(start={"d1": {}})
            liaison.wait_ready(nodes.names)


@pytest.mark.sanitize
@pytest.mark.parametrize("names", ["east west", "west east"])
def test_of_several_groups_those_that_failed_are_told(tmp_path, names):
    require_binary()
    with running(["--suite", awkward.write_folder(tmp_path), "--nodes", 2]) as (nodes, liaison):
        with liaison.client() as client:
            nodes.control(fault={"d2": {"group": "west", "error": "enough"}})
            execution = execution_of(client.query(query(ask(names, "reading", ["default.svc"], trace=True))))
            failed = {span.message: span.error for span in execution.children}
            assert execution.error
            assert failed == {"broadcast-per-group-east": False, "broadcast-per-group-west": True}
            nodes.control(fault={"*": None})


@pytest.mark.sanitize
@pytest.mark.skipif(not HAS_SUITE, reason="the acceptance suite is not here (BYDB_SHARED)")
def test_stages_are_told():
    """The groups by name, as Go prints a map, whatever their order in the request."""
    require_binary()
    options = ["--suite", SUITE, "--suite-variant", "alt_group_stages", "--label", "d1:type=hot", "--label",
               "d2:type=warm"]
    with running(options, ["--data-node-selector=type=hot"]) as (nodes, liaison), liaison.client() as client:
        document = {**ask("sw_updated sw_metric", "service_cpm_minute", ["default.entity_id"], ["value"]),
                    "stages": ["hot", "warm"], "trace": True}
        execution = execution_of(client.query(query(document)))
        both = "type=hot type=warm"
        assert tags_of(execution)["node_selectors"] == f"map[sw_metric:[{both}] sw_updated:[{both}]]"
        response = client.topn(message("measure.v1.TopNRequest", {
            "groups": ["sw_metric"], "name": "service_instance_cpm_minute_top_bottom_100", "topN": 3, "agg": 2,
            "fieldValueSort": DESC, "trace": True, "stages": ["warm"],
            "timeRange": {"begin": rfc3339(0), "end": nodes.t0}}))
        assert tags_of(execution_of(response))["nodeSelectors"] == "map[sw_metric:[type=warm]]"
        assert [span.message for span in execution_of(response).children] == ["data-d2"]
