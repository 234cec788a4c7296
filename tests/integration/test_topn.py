# SPDX-License-Identifier: Apache-2.0
"""TopN before sample nodes: values computed from the rows, refusals, what nodes are asked, and trouble on the way."""
import base64
import datetime
import json
import threading
import time

import grpc
import pytest

import datanode
from asking import internal
from client import TOPN, time_range
from fixtures import require_binary, running
from process import wait_until
from proto import message, parse
from sliced import expect_silence
from topn_oracle import ASC, COUNT, DESC, MAX, MEAN, MIN, MINUTE, SUM, TopNOracle

INSTANCE, LATENCY = "service_instance_cpm_minute_topn", "endpoint_latency_minute_topn"
FUNCTIONS = {"mean": MEAN, "max": MAX, "min": MIN, "count": COUNT, "sum": SUM}
UNKNOWN, INVALID = grpc.StatusCode.UNKNOWN, grpc.StatusCode.INVALID_ARGUMENT
MORE_THAN_ANY_NODE_BEARS = 2**31 - 1


def t0_of(nodes):
    return int(datetime.datetime.fromisoformat(nodes.t0.replace("Z", "+00:00")).timestamp()) * 1_000_000_000


def topn(nodes, name=INSTANCE, groups="sw_metric", minutes=(60, 0), **more):
    """A request over this range, in minutes before the last row; `more` are fields of the message."""
    last = t0_of(nodes) // MINUTE * MINUTE
    begin, end = ((last - int(part * MINUTE)) // 1_000_000 for part in minutes)
    document = {"groups": groups.split(), "name": name, "timeRange": time_range(begin, end), "topN": 5,
                "agg": MAX, "fieldValueSort": DESC, **more}
    return message("measure.v1.TopNRequest", {key: value for key, value in document.items() if value is not None})


def rows_of(response):
    """[(entity, value)] of the only list."""
    found = []
    for item in (item for answered in response.lists for item in answered.items):
        assert item.version == 0 and not item.HasField("timestamp")
        value = item.value.int.value if item.value.HasField("int") else item.value.float.value
        found.append((tuple(tag.value.str.value for tag in item.entity), value))
    return found


def asked(nodes, node):
    return [entry["body"] for entry in nodes.stats()[node]["requests"]]


# ------------------------------------------------------------------ values

@pytest.fixture(scope="module", params=["distinct", "range"])
def demo(request):
    """(nodes, liaison, client, oracle, whether the function is taken over time)"""
    require_binary()
    with running(["--demo", "--nodes", 3], [f"--topn={request.param}"]) as (nodes, liaison):
        oracle = TopNOracle()
        datanode.demo.load(oracle, t0_of(nodes), seed=1)
        with liaison.client() as client:
            yield nodes, liaison, client, oracle, request.param == "range"


def check(demo, **more):
    nodes, _, client, oracle, by_time = demo
    request = topn(nodes, **more)
    response, trailers = client.topn_with_trailers(request)
    assert not {"banyandb-incomplete", "banyandb-approximate"} & set(trailers)
    wanted = oracle.answer(request, by_time)
    assert rows_of(response) == [(entity, value) for _, entity, value in wanted]
    again = client.topn(request)
    for answer in (response, again):
        for found in answer.lists:
            assert abs(found.timestamp.ToSeconds() - time.time()) < 600
            found.ClearField("timestamp")
    assert again.SerializeToString() == response.SerializeToString()


@pytest.mark.sanitize
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("direction", [DESC, ASC], ids=["desc", "asc"])
def test_values_with_copies(demo, function, direction):
    check(demo, agg=FUNCTIONS[function], fieldValueSort=direction)
    check(demo, agg=FUNCTIONS[function], fieldValueSort=direction, topN=100)


@pytest.mark.sanitize
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_on_one_node_each(demo, function):
    check(demo, name=LATENCY, groups="sw_latency", agg=FUNCTIONS[function], topN=7)


@pytest.mark.parametrize("minutes", [(0, 0), (30, 30), (10, 5), (9.5, 4.5), (150, -50)], ids=str)
def test_ranges(demo, minutes):
    check(demo, agg=SUM, minutes=minutes)
    check(demo, agg=COUNT, minutes=minutes, topN=50)


@pytest.mark.parametrize("minutes", [(-5, -6), (10, 20), (0.5, 0.2)], ids=["later", "inverted", "between"])
def test_an_empty_range(demo, minutes):
    nodes, _, client, _, _ = demo
    assert not client.topn(topn(nodes, agg=SUM, minutes=minutes)).lists


def test_a_condition(demo):
    nodes, _, client, oracle, by_time = demo
    service = "agent::cart"
    condition = {"name": "service_id", "op": "BINARY_OP_EQ", "value": {"str": {"value": service}}}
    request = topn(nodes, agg=SUM, topN=100, conditions=[condition])
    wanted = [(entity, value) for _, entity, value in oracle.answer(request, by_time) if entity[0] == service]
    assert wanted and rows_of(client.topn(request)) == wanted


def test_a_group_named_twice(demo):
    check(demo, agg=SUM, groups="sw_metric sw_metric")


# ---------------------------------------------------------------- refusals

NOT_FOUND = "rpc error: code = NotFound desc = banyandb: resource not found"
REFUSED = {
    "no fields": ({"groups": "", "name": None, "timeRange": None, "topN": None}, INVALID,
                  "invalid TopNRequest.Groups: value must contain at least 1 item(s); invalid TopNRequest.Name: value "
                  "length must be at least 1 runes; invalid TopNRequest.TimeRange: value is required; invalid "
                  "TopNRequest.TopN: value must be greater than 0"),
    "no direction": ({"fieldValueSort": None}, UNKNOWN, internal("unspecified requested sort direction")),
    "no function": ({"agg": None}, UNKNOWN, internal("unspecified requested aggregation function")),
    "unknown function": ({"agg": 99}, UNKNOWN, internal(
        f"execute the query {INSTANCE}: unknown function:: unknown aggregation function")),
    "unknown group": ({"groups": "nowhere"}, UNKNOWN, internal("failed to load group nowhere")),
    "unknown rule": ({"name": "nothing"}, UNKNOWN, internal(
        "failed to determine field type for topN query nothing: failed to get topN aggregation sw_metric/nothing: "
        + NOT_FOUND)),
    "a second group without the rule": ({"groups": "sw_metric sw_latency"}, UNKNOWN, internal(
        f"failed to determine field type for topN query {INSTANCE}: failed to get topN aggregation "
        f"sw_latency/{INSTANCE}: {NOT_FOUND}")),
    "the other direction": ({"groups": "sw_latency", "name": LATENCY, "fieldValueSort": ASC}, UNKNOWN, internal(
        f"execute the query {LATENCY}: topN aggregation sw_latency/{LATENCY} has field_value_sort SORT_DESC, found "
        "SORT_ASC in the request; ask for SORT_DESC, or query an aggregation of both directions (SORT_UNSPECIFIED)")),
    "unknown stage": ({"stages": ["cold"]}, UNKNOWN, internal("no stage found")),
}


@pytest.mark.sanitize
@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_a_node_is_asked(cluster, name):
    fields, code, text = REFUSED[name]
    cluster.nodes.control(clear=None)
    assert cluster.client.topn_error(topn(cluster.nodes, **fields)) == (code, text)
    assert all(not stats["requests"] for stats in cluster.nodes.stats().values())


@pytest.mark.sanitize
def test_bytes_that_are_no_request(cluster):
    for data in (b"\x0a\xff", b"\x0a\x01\xff", b"\x22\x01x", b"\xff" * 100):
        code, _ = cluster.client.topn_error(data)
        assert code == grpc.StatusCode.INTERNAL, data


# ------------------------------------------------------- what nodes are sent

@pytest.mark.sanitize
def test_a_node_is_never_asked_for_more_than_it_bears(cluster):
    cluster.nodes.control(clear=None)
    response = cluster.client.topn(topn(cluster.nodes, topN=MORE_THAN_ANY_NODE_BEARS))
    assert len(response.lists[0].items) == 12
    for node in cluster.nodes.names:
        (body,) = asked(cluster.nodes, node)
        assert body["topN"] == 100_000
        assert "agg" not in body and "trace" not in body and body["groups"] == ["sw_metric"]


def test_one_question_for_the_best_value(demo):
    """MAX of the greatest and MIN of the smallest need no more, whatever --topn says."""
    nodes, _, client, _, _ = demo
    for function, direction in ((MAX, DESC), (MIN, ASC)):
        nodes.control(clear=None)
        client.topn(topn(nodes, agg=function, fieldValueSort=direction))
        assert [len(asked(nodes, node)) for node in nodes.names] == [1, 1, 1]


# ------------------------------------------------------------- by intervals

@pytest.mark.sanitize
def test_interval_by_interval_sixteen_at_a_time(start):
    cluster = start(["--demo", "--nodes", 2], ["--topn=range"])
    cluster.nodes.control(fault={"*": {"topic": "topn", "delay_ms": 300}}, clear=None)
    assert len(cluster.client.topn(topn(cluster.nodes, agg=SUM)).lists[0].items) == 5
    last = t0_of(cluster.nodes) // MINUTE * MINUTE
    wanted = [{"begin": moment, "end": moment} for moment in
              (time_range((last - back * MINUTE) // 1_000_000, 0)["begin"] for back in range(60, -1, -1))]
    for stats in cluster.nodes.stats().values():
        requests = stats["requests"]
        ranges = [entry["body"]["timeRange"] for entry in requests]
        assert sorted(ranges, key=str) == sorted(wanted, key=str)
        assert {entry["body"]["topN"] for entry in requests} == {1000}
        at = sorted(entry["at"] for entry in requests)
        assert all(later - earlier > 0.2 for earlier, later in zip(at, at[16:]))


def test_too_many_intervals(start):
    cluster = start(["--demo", "--nodes", 2], ["--topn=range", "--topn-max-intervals=30"])
    oracle = TopNOracle()
    datanode.demo.load(oracle, t0_of(cluster.nodes), seed=1)
    for minutes, by_time in (((29, 0), True), ((30, 0), False)):
        request = topn(cluster.nodes, agg=SUM, minutes=minutes)
        response, trailers = cluster.client.topn_with_trailers(request)
        assert trailers.get("banyandb-approximate") == (None if by_time else "topn-distinct")
        assert rows_of(response) == [(entity, value) for _, entity, value in oracle.answer(request, by_time)]


def instances(nodes, values):
    """A row for each (minute before the last row, instance, value), spread over the services."""
    last = t0_of(nodes) // MINUTE * MINUTE
    rows = []
    for back, number, value in values:
        tags = [f"service-{number % 7}", f"instance-{number:05}", "v"]
        moment = time_range((last - back * MINUTE) // 1_000_000, 0)["begin"]
        rows.append({"timestamp": moment, "tagFamilies": [{"tags": [{"str": {"value": tag}} for tag in tags]}],
                     "fields": [{"int": {"value": value}}]})
    nodes.control(write=[{"group": "sw_metric", "measure": "service_instance_cpm_minute", "rows": rows}])


def test_a_node_with_more_entities_is_asked_for_more(start):
    """The best sum belongs to an instance that is among the first thousand in neither interval."""
    cluster = start(["--demo", "--nodes", 2], ["--topn=range"])
    early = [(101, number, 5000 if number < 1100 else 1) for number in range(2200)]
    late = [(100, number, 1 if number < 1100 else 5000) for number in range(2200)]
    instances(cluster.nodes, early + late + [(101, 9999, 3000), (100, 9999, 3000)])
    cluster.nodes.control(clear=None)
    response, trailers = cluster.client.topn_with_trailers(
        topn(cluster.nodes, agg=SUM, topN=2, minutes=(101, 100)))
    assert "banyandb-approximate" not in trailers
    assert rows_of(response) == [(("service-3", "instance-09999"), 6000), (("service-0", "instance-00000"), 5001)]
    for node in cluster.nodes.names:
        assert sorted(body["topN"] for body in asked(cluster.nodes, node)) == [1000, 1000, 10_000, 10_000]


def lists_of(count):
    """A SendResponse with so many entities, base64."""
    response = message("measure.v1.TopNResponse")
    found = response.lists.add()
    for number in range(count):
        item = found.items.add(version=1)
        item.entity.add(key="id").value.str.value = f"{number}"
        item.value.int.value = count - number
    answer = parse("cluster.v1.SendResponse", b"")
    answer.body = response.SerializeToString()
    return base64.b64encode(answer.SerializeToString()).decode()


@pytest.mark.parametrize("mode", ["distinct", "range"])
def test_more_entities_than_a_node_can_be_asked_for(start, mode):
    cluster = start(["--demo", "--nodes", 1], [f"--topn={mode}"])
    (node,) = cluster.nodes.names
    counts = [1000, 10_000, 100_000] if mode == "range" else [100_000]
    cluster.nodes.control(replay={node: [["sw_metric", lists_of(count)] for count in counts]}, clear=None)
    top = 3 if mode == "range" else MORE_THAN_ANY_NODE_BEARS
    response, trailers = cluster.client.topn_with_trailers(
        topn(cluster.nodes, agg=SUM, topN=top, minutes=(1, 1)))
    assert trailers["banyandb-approximate"] == "topn"
    assert len(response.lists[0].items) == min(top, 100_000)
    assert rows_of(response)[:2] == [(("0",), 100_000), (("1",), 99_999)]
    assert [body["topN"] for body in asked(cluster.nodes, node)] == counts


# ------------------------------------------------------------------ trouble

def execution(text):
    return internal(f"execute the query {INSTANCE}: {text}")


@pytest.mark.sanitize
def test_errors_of_nodes_are_joined(cluster):
    cluster.nodes.control(fault={"d3": {"topic": "topn", "error": "third"}, "d1": {"topic": "topn", "error": "first"}})
    assert cluster.client.topn_error(topn(cluster.nodes)) == (UNKNOWN, execution("first; third"))


@pytest.mark.sanitize
def test_a_broken_list(cluster):
    cluster.nodes.fault("d2", topic="topn", truncate=50)
    code, text = cluster.client.topn_error(topn(cluster.nodes))
    assert code == UNKNOWN
    assert text == execution("node d2: the TopNResponse is not a well-formed protobuf message, found at item 0")
    cluster.nodes.fault("d2", topic="topn", garbage=300)
    assert cluster.client.topn_error(topn(cluster.nodes))[0] == UNKNOWN


@pytest.mark.sanitize
def test_a_silent_node(start):
    cluster = start(["--demo", "--nodes", 2, "--replicas", 0], ["--dst-broadcast-timeout=4s"])
    cluster.nodes.fault("d1", topic="topn", hang=True)
    code, text = cluster.client.topn_error(topn(cluster.nodes))
    assert code == UNKNOWN
    assert "desc = context deadline exceeded: data node d1 (" in text, text


@pytest.mark.sanitize
@pytest.mark.parametrize("mode", ["distinct", "range"])
def test_a_silent_node_whose_copies_answer(start, mode):
    cluster = start(["--demo", "--nodes", 2], ["--dst-broadcast-timeout=4s", f"--topn={mode}"])
    wanted = cluster.client.topn(topn(cluster.nodes, agg=SUM)).lists[0].items
    cluster.nodes.fault("d1", topic="topn", hang=True)
    response, trailers = cluster.client.topn_with_trailers(topn(cluster.nodes, agg=SUM))
    assert list(response.lists[0].items) == list(wanted)
    assert "banyandb-incomplete" not in trailers


@pytest.mark.sanitize
@pytest.mark.parametrize("mode", ["distinct", "range"])
def test_slow_copies_are_not_waited_for(start, mode):
    cluster = start(["--demo", "--nodes", 3], ["--skip-slow-replicas", f"--topn={mode}"])
    with_copies = topn(cluster.nodes, agg=SUM)
    without = topn(cluster.nodes, name=LATENCY, groups="sw_latency", minutes=(2, 0), agg=SUM, topN=100)
    wanted = [rows_of(cluster.client.topn(request)) for request in (with_copies, without)]
    cluster.nodes.control(fault={"*": {"topic": "topn", "hold": True}, "d2": {"topic": "topn", "hang": True}},
                          clear=None)
    call = cluster.client.method(TOPN).future(with_copies.SerializeToString(), timeout=30)
    wait_until(lambda: all(asked(cluster.nodes, node) for node in ("d1", "d2", "d3")), what="all nodes being asked")
    cluster.nodes.control(fault={"d1": None, "d3": None})
    assert rows_of(parse("measure.v1.TopNResponse", call.result())) == wanted[0]
    assert "banyandb-incomplete" not in dict(call.trailing_metadata())
    cluster.nodes.control(fault={"d2": {"topic": "topn", "delay_ms": 300}})
    assert rows_of(cluster.client.topn(without)) == wanted[1], "nobody else has these rows"
    cluster.liaison.expect_nothing_alive()


@pytest.mark.sanitize
def test_a_slow_copy_beside_one_that_has_more(start):
    """The node that is asked for more is waited for, the other one is not."""
    cluster = start(["--demo", "--nodes", 2], ["--skip-slow-replicas", "--topn=range", "--dst-broadcast-timeout=60s"])
    instances(cluster.nodes, [(100, number, number) for number in range(2200)])
    cluster.nodes.control(fault={"d1": {"topic": "topn", "hang": True}}, clear=None)
    response = cluster.client.topn(topn(cluster.nodes, agg=SUM, topN=2, minutes=(100, 100)))
    assert [value for _, value in rows_of(response)] == [2199, 2198]


@pytest.mark.sanitize
def test_a_node_that_fails_on_the_way(start):
    cluster = start(["--demo", "--nodes", 2], ["--topn=range"])
    cluster.nodes.control(fault={"*": [{"topic": "topn", "delay_ms": 100, "times": 20},
                                       {"topic": "topn", "error": "enough"}]}, clear=None)
    code, text = cluster.client.topn_error(topn(cluster.nodes, agg=SUM))
    assert code == UNKNOWN and "enough" in text
    assert sum(len(stats["requests"]) for stats in cluster.nodes.stats().values()) < 2 * 61


def executors_of(liaison, name):
    """How many executors may ask this node."""
    return next(node["executors"] for node in json.loads(liaison.get("/nodes")[1])["nodes"] if node["name"] == name)


@pytest.mark.sanitize
def test_a_node_that_leaves_on_the_way(start):
    cluster = start(["--demo", "--nodes", 2, "--replicas", 0], ["--topn=range", "--dst-broadcast-timeout=60s"])
    cluster.nodes.control(fault={"*": {"topic": "topn", "hold": True}}, clear=None)
    call = cluster.client.method(TOPN).future(topn(cluster.nodes, agg=SUM).SerializeToString(), timeout=30)
    wait_until(lambda: sum(stats["sends"] for stats in cluster.nodes.stats().values()) >= 32, what="the first round")
    cluster.nodes.control(discovery=["d1"])
    wait_until(lambda: executors_of(cluster.liaison, "d2") == 0, what="all executors knowing that d2 has left")
    cluster.nodes.control(fault={"*": None})
    assert call.code() == UNKNOWN
    assert "failed to publish message to d2: client not found for node d2" in call.details()


@pytest.mark.sanitize
def test_a_client_that_leaves(start):
    cluster = start(["--demo", "--nodes", 2], ["--topn=range"])
    cluster.nodes.control(fault={"*": {"topic": "topn", "delay_ms": 200}}, clear=None)
    call = cluster.client.method(TOPN).future(topn(cluster.nodes, agg=SUM).SerializeToString(), timeout=30)
    wait_until(lambda: sum(stats["sends"] for stats in cluster.nodes.stats().values()) > 32, what="a second round")
    call.cancel()
    expect_silence(cluster)


def test_a_node_that_is_down_is_told(start):
    cluster = start(["--demo", "--nodes", 3])
    cluster.nodes.control(stop=["d2"])
    cluster.liaison.wait_metric(lambda value: value == 0, "bydb_node_up", node="d2")
    response, trailers = cluster.client.topn_with_trailers(topn(cluster.nodes, name=LATENCY, groups="sw_latency"))
    assert trailers["banyandb-incomplete"] == "d2"
    assert response.lists[0].items
    cluster.nodes.control(start={"d2": {}})


@pytest.mark.sanitize
def test_memory_of_one_query(start):
    cluster = start(["--demo", "--nodes", 1], ["--measure-vectorized-query-memory-mib=1"])
    (node,) = cluster.nodes.names
    cluster.nodes.control(replay={node: [["sw_metric", lists_of(20_000)]]})
    code, text = cluster.client.topn_error(topn(cluster.nodes, topN=20_000))
    assert code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "memory budget" in text


@pytest.mark.sanitize
def test_counted_as_topn(start):
    cluster = start(["--demo", "--nodes", 1])
    cluster.client.topn(topn(cluster.nodes))
    cluster.client.topn_error(topn(cluster.nodes, agg=None))
    labels = {"group": "sw_metric", "service": "measure", "method": "topn"}
    cluster.liaison.wait_metric(lambda value: value == 2, "banyandb_liaison_grpc_total_finished", **labels)
    assert cluster.liaison.metric("banyandb_liaison_grpc_total_started", **labels) == 2
    assert cluster.liaison.metric("banyandb_liaison_grpc_total_err", **labels) == 1


@pytest.mark.sanitize
def test_many_at_a_time(start):
    cluster = start(["--demo", "--nodes", 2], ["--topn=range"])
    request = topn(cluster.nodes, agg=SUM, minutes=(20, 0))
    answers, failures = set(), []

    def ask_often():
        try:
            with cluster.liaison.client() as client:
                for _ in range(3):
                    answers.add(tuple(rows_of(client.topn(request))))
        except Exception as why:  # told by the test, not by the thread
            failures.append(why)
    threads = [threading.Thread(target=ask_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(answers) == 1
