# SPDX-License-Identifier: Apache-2.0
"""Who aggregates, the nodes or the liaison; and what becomes of a node that cannot."""
import base64
import datetime
import time

import grpc
import pytest

from asking import EQ, LATENCY, ask, execution, query, where
from client import rfc3339
from datanode import frame, frame4
from process import wait_until
from proto import message

MEASURE = "endpoint_latency_minute"
TOO_MANY = ("code: STATUS_INTERNAL_ERROR, msg: fail to dispatch the query request for measure "
            f"{MEASURE}: vec dispatch: execute: group-by memory budget exceeded: memory budget exceeded: "
            "used 268435000 + requested 4096 > limit 268435456")
ENDPOINTS = 30
MINUTE_MS = 60_000


def by_endpoint(groups="sw_latency", name=MEASURE, key="default.endpoint_id", **more):
    family, tag = key.split(".")
    return ask(groups, name, [key], ["value"], limit=1000, agg={"function": "AGGREGATION_FUNCTION_COUNT",
                                                                "fieldName": "value"},
               groupBy={"tagProjection": {"tagFamilies": [{"name": family, "tags": [tag]}]}}, **more)


def between(document, begin_ms, end_ms):
    return query({**document, "timeRange": {"begin": rfc3339(int(begin_ms)), "end": rfc3339(int(end_ms))}})


def asked_for(cluster):
    """Of the nodes' requests since the last time, in order: whether they were for partials."""
    found = [request["body"].get("aggReturnPartial", False)
             for node in cluster.nodes.stats().values() for request in node["requests"]]
    cluster.nodes.control(clear=None)
    return found


# --------------------------------------------------------- a node without room

@pytest.fixture
def combining(start):
    return start(["--demo", "--nodes", 3], ["--aggregation=pushdown"])


@pytest.mark.sanitize
def test_a_node_without_room_is_asked_for_rows(combining):
    request = query(by_endpoint())
    wanted = combining.client.query(request)
    assert len(wanted.data_points) == ENDPOINTS
    assert set(asked_for(combining)) == {True}
    combining.nodes.fault("d2", error=TOO_MANY, times=1)
    got = combining.client.query(request)
    key = lambda point: point.SerializeToString()  # noqa: E731
    assert sorted(got.data_points, key=key) == sorted(wanted.data_points, key=key)
    assert sorted(asked_for(combining)) == [False] * 3 + [True] * 3


@pytest.mark.sanitize
def test_rows_that_are_refused_too_are_an_error(combining):
    combining.nodes.fault("*", error=TOO_MANY)
    assert combining.client.query_error(query(by_endpoint())) == (
        grpc.StatusCode.UNKNOWN, execution(MEASURE, "; ".join([TOO_MANY] * 3)))
    assert len(asked_for(combining)) == 6


@pytest.mark.sanitize
def test_other_errors_are_told_at_once(combining):
    combining.nodes.fault("d1", error="the disk is on fire", times=1)
    assert combining.client.query_error(query(by_endpoint())) == (
        grpc.StatusCode.UNKNOWN, execution(MEASURE, "the disk is on fire"))
    assert asked_for(combining) == [True] * 3


def test_a_trace_tells_both_ways(combining):
    combining.nodes.fault("d2", error=TOO_MANY, times=1)
    trace = combining.client.query(query(by_endpoint(trace=True))).trace
    assert not trace.error
    (root,) = trace.spans
    (execution_span,) = root.children
    names = [span.message for span in execution_span.children]
    assert names[:3] == ["broadcast-agg", "broadcast-agg", "reduce-raw-frames"]
    tags = {tag.key: tag.value for tag in execution_span.children[0].tags}
    assert "memory budget exceeded" in tags["asked_again"]
    assert not any(span.error for span in execution_span.children)


def test_a_trace_tells_what_no_node_was_asked(combining):
    """A refusal by the words of a node is one of the execution: clients look for it in the trace."""
    document = by_endpoint(key="default.nothing")
    code, text = combining.client.query_error(query(document))
    assert code == grpc.StatusCode.UNKNOWN
    response = combining.client.query(query({**document, "trace": True}))
    assert response.trace.error and not response.data_points
    (execution_span,) = response.trace.spans[0].children
    said = [tag.value for tag in execution_span.tags if tag.key == "error_msg"]
    assert execution_span.error and said == [text.removesuffix(": invalid query message")]
    assert asked_for(combining) == []
    document["groups"] = ["nowhere"]
    assert combining.client.query_error(query({**document, "trace": True}))[0] == grpc.StatusCode.UNKNOWN


def test_the_client_goes_while_rows_are_asked_for(combining):
    combining.nodes.control(fault={"d2": {"error": TOO_MANY, "times": 1}, "d3": [{"times": 1}, {"hang": True}]})
    code, text = combining.client.query_error(query(by_endpoint()), timeout=0.5)
    # The client's clock or the liaison's, whichever is first.
    assert code == grpc.StatusCode.DEADLINE_EXCEEDED or "code = DeadlineExceeded" in text, text
    combining.nodes.control(fault={"*": None})
    assert len(combining.client.query(query(by_endpoint())).data_points) == ENDPOINTS


# ------------------------------------------------------------------ who may

@pytest.fixture
def ahead(start):
    """Demo data that lies in the hour to come: after every change of placement so far."""
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1, minutes=5)
    cluster = start(["--demo", "--nodes", 3, "--t0", end.strftime("%Y-%m-%dT%H:%M:00"),
                     "--created-at", "2026-01-01T00:00:00"])
    cluster.end = int(end.timestamp() * 1000)
    return cluster


def mode_of(cluster, document, begin_ms, end_ms):
    found = cluster.client.query(between(document, begin_ms, end_ms))
    assert found.data_points
    (partials,) = set(asked_for(cluster))
    return "partials" if partials else "rows"


def test_nodes_aggregate_where_no_row_has_a_copy(ahead):
    now = time.time() * 1000
    assert mode_of(ahead, by_endpoint(), now + MINUTE_MS, ahead.end) == "partials"
    assert mode_of(ahead, by_endpoint(criteria=where("service_id", EQ, "agent::cart")), now + MINUTE_MS,
                   ahead.end) == "partials"
    assert mode_of(ahead, by_endpoint(), now - 60 * MINUTE_MS, ahead.end) == "rows"
    cpm = by_endpoint("sw_metric", "service_cpm_minute", "default.service_id")
    assert mode_of(ahead, cpm, now + MINUTE_MS, ahead.end) == "rows"    # it has replicas


@pytest.mark.sanitize
def test_the_widest_range_there_is(combining, start):
    """The first and the last millisecond that 64 bits of nanoseconds hold: all rows, and no row twice."""
    pulling = start(["--demo", "--nodes", 3])
    request = query(by_endpoint())
    wanted = pulling.client.query(request)
    asked_for(pulling)
    request.time_range.begin.seconds, request.time_range.begin.nanos = -9_223_372_037, 146_000_000
    request.time_range.end.seconds, request.time_range.end.nanos = 9_223_372_036, 854_000_000
    for cluster in pulling, combining:
        assert len(cluster.client.query(request).data_points) == ENDPOINTS
    assert pulling.client.query(request) == wanted
    assert set(asked_for(pulling)) == {False}


def test_more_groups_than_a_node_can_number(ahead):
    """Nodes of 0.11 send 65,536 groups at most, and nothing tells that there are more."""
    groups = 65_536
    partials = frame.Frame(groups, [
        frame.Column(frame.ROLE_SHARD, frame.INT64, "shard_id", cells=[0] * groups),
        frame.Column(frame.ROLE_TAG, frame.STRING, "endpoint_id", "default", [f"e{i}" for i in range(groups)]),
        frame.Column(frame.ROLE_FIELD, frame.INT64, "value", cells=[1] * groups)])
    metadata = (frame.ROLE_TIMESTAMP, frame.ROLE_VERSION, frame.ROLE_SERIES, frame.ROLE_SHARD)
    rows = frame.Frame(1, [
        *[frame.Column(role, frame.INT64, cells=[1]) for role in metadata],
        frame.Column(frame.ROLE_TAG, frame.STRING, "endpoint_id", "default", ["the row's"]),
        frame.Column(frame.ROLE_FIELD, frame.INT64, "value", cells=[5])])
    answer_with(ahead, [partials, rows])
    now = time.time() * 1000
    (point,) = ahead.client.query(between(by_endpoint(), now + MINUTE_MS, ahead.end)).data_points
    assert point.tag_families[0].tags[0].value.str.value == "the row's"
    assert sorted(asked_for(ahead)) == [False] * 3 + [True] * 3


def least_values(*values):
    """A node's partials of MIN, one for each endpoint; the node began each from the greatest integer."""
    return frame.Frame(len(values), [
        frame.Column(frame.ROLE_SHARD, frame.INT64, "shard_id", cells=[0] * len(values)),
        frame.Column(frame.ROLE_TAG, frame.STRING, "endpoint_id", "default", [f"e{i}" for i in range(len(values))]),
        frame.Column(frame.ROLE_FIELD, frame.INT64, "value", cells=list(values))])


def rows_of(*values):
    metadata = (frame.ROLE_TIMESTAMP, frame.ROLE_VERSION, frame.ROLE_SERIES, frame.ROLE_SHARD)
    return frame.Frame(len(values), [
        *[frame.Column(role, frame.INT64, cells=list(range(len(values)))) for role in metadata],
        frame.Column(frame.ROLE_TAG, frame.STRING, "endpoint_id", "default", [f"e{i}" for i in range(len(values))]),
        frame.Column(frame.ROLE_FIELD, frame.INT64, "value", cells=list(values))])


GREATEST = 2**63 - 1


def test_the_least_of_a_group_without_values_is_told_by_rows(ahead):
    """A node's partial of no value is the greatest integer, and so may be the least of what there is."""
    least = by_endpoint()
    least["agg"]["function"] = "AGGREGATION_FUNCTION_MIN"
    now = time.time() * 1000
    request = between(least, now + MINUTE_MS, ahead.end)
    answer_with(ahead, [least_values(GREATEST, GREATEST, 5), rows_of(GREATEST, None, 5)])
    found = [point.fields[0].value for point in ahead.client.query(request).data_points]
    assert [value.WhichOneof("value") for value in found] == ["int", "null", "int"]
    assert [value.int.value for value in found] == [GREATEST, 0, 5]
    assert sorted(asked_for(ahead)) == [False] * 3 + [True] * 3
    answer_with(ahead, [least_values(GREATEST - 1, 5)])
    assert len(ahead.client.query(request).data_points) == 2
    assert asked_for(ahead) == [True] * 3


def answer_with(cluster, frames):
    """The first node's answers; the others have nothing."""
    nothing = base64.b64encode(message("cluster.v1.SendResponse").SerializeToString()).decode()
    cluster.nodes.control(replay={
        "d1": [["sw_latency", answer_of(found)] for found in frames],
        **{node: [["sw_latency", nothing]] * len(frames) for node in ("d2", "d3")}})


def answer_of(found):
    answer = message("cluster.v1.SendResponse")
    answer.body = frame4.encode(found)
    return base64.b64encode(answer.SerializeToString()).decode()


def test_rows_are_pulled_when_placement_may_have_changed(ahead):
    """At a moment that is near enough to be believed (test_schema.py has those that are not)."""
    later = time.time() * 1000 + MINUTE_MS
    assert mode_of(ahead, by_endpoint(), later, ahead.end) == "partials"
    group = {"metadata": {"name": "newcomer"}, "catalog": "CATALOG_STREAM", "resourceOpts": {
        "shardNum": 1, "segmentInterval": {"unit": "UNIT_DAY", "num": 1}, "ttl": {"unit": "UNIT_DAY", "num": 7}}}
    ahead.nodes.control(schema=[{"action": "insert", "kind": "group", "object": group,
                                 "revision": int((later + 2 * MINUTE_MS) * 1_000_000)}])
    wait_until(lambda: mode_of(ahead, by_endpoint(), later, ahead.end) == "rows", 10, "rows to be asked for")
    assert mode_of(ahead, by_endpoint(), later + 3 * MINUTE_MS, ahead.end) == "partials"


def test_rows_are_pulled_while_a_node_is_missing(ahead):
    later = time.time() * 1000 + 30 * MINUTE_MS
    ahead.nodes.control(stop=["d3"])
    wait_until(lambda: mode_of(ahead, by_endpoint(), later, ahead.end) == "rows", 20, "rows to be asked for")


@pytest.mark.parametrize("options, floor", [((), 1), (("--mean-floor=upstream",), 1), (("--mean-floor=none",), 0)])
def test_the_floor_of_a_mean(start, options, floor):
    cluster = start(["--demo", "--nodes", 1], options)
    document = ask(*LATENCY[:2], [], ["percentile"],
                   agg={"function": "AGGREGATION_FUNCTION_MEAN", "fieldName": "value"},
                   groupBy={"tagProjection": {"tagFamilies": [{"name": "default", "tags": ["endpoint_id"]}]}})
    tags = [{"str": {"value": "agent::low"}}, {"str": {"value": "agent::low-1"}}, {"null": None}]
    row = {"tagFamilies": [{"tags": tags}],
           "fields": [{"int": {"value": -7}}, {"float": {"value": 0}}], "timestamp": cluster.nodes.t0[:17] + "00Z"}
    cluster.nodes.control(write=[{"group": "sw_latency", "measure": MEASURE, "rows": [row]}])
    document["criteria"] = where("service_id", EQ, "agent::low")
    (point,) = cluster.client.query(query(document)).data_points
    assert point.fields[0].value.int.value == (floor or -7)
