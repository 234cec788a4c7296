# SPDX-License-Identifier: Apache-2.0
"""Nodes that fail, lie or stay silent: a clear error to that query, and nobody else notices."""
import re
import threading

import grpc
import pytest

from asking import CPM, CPM_ROWS, LATENCY, LATENCY_ROWS, ask, execution, query
from client import QUERY
from process import wait_until
from proto import parse

MEASURE = "endpoint_latency_minute"
WHOLE = query(ask(*LATENCY, limit=10_000))
OTHER = query(ask(*CPM, limit=10_000))
UNKNOWN = grpc.StatusCode.UNKNOWN


def others_go_on(cluster):
    assert len(cluster.client.query(OTHER, timeout=12).data_points) == CPM_ROWS


def all_is_well(cluster):
    assert len(cluster.client.query(WHOLE).data_points) == LATENCY_ROWS
    others_go_on(cluster)


@pytest.mark.sanitize
def test_a_node_error_passes_unchanged(cluster):
    cluster.nodes.fault("d2", group="sw_latency", error="code: STATUS_INTERNAL_ERROR, msg: the disk is on fire")
    code, text = cluster.client.query_error(WHOLE)
    assert (code, text) == (UNKNOWN, execution(MEASURE, "code: STATUS_INTERNAL_ERROR, msg: the disk is on fire"))
    others_go_on(cluster)


@pytest.mark.sanitize
def test_errors_of_several_nodes_are_joined(cluster):
    cluster.nodes.control(fault={"d3": {"group": "sw_latency", "error": "third"},
                                 "d1": {"group": "sw_latency", "error": "first"}})
    assert cluster.client.query_error(WHOLE) == (UNKNOWN, execution(MEASURE, "first; third"))


@pytest.mark.sanitize
def test_a_long_error_text_arrives(cluster):
    cluster.nodes.fault("d1", group="sw_latency", error="Ärger " * 2000)
    code, text = cluster.client.query_error(WHOLE)
    assert code == UNKNOWN
    assert "Ärger Ärger" in text and len(text) < 8192


BROKEN = {
    "random bytes": {"garbage": 500},
    "random bytes that begin like a frame": {"garbage": 500, "seed": 7, "version_byte": 4},
    "a frame cut in the head": {"truncate": 9},
    "a frame cut in the middle": {"truncate": 200},
    "a frame that lacks its last byte": {"truncate": -1},
    "an absurd number of rows": {"huge": "rows"},
    "an absurd number of columns": {"huge": "columns"},
    "an absurd length of names": {"huge": "names"},
    "frame version 0": {"version_byte": 0},
    "frame version 9": {"version_byte": 9},
    "rows instead of a frame": {"data_points": True},
    "a failed trace": {"trace_error": True},
    "no message at all": {"no_message": True},
    "a status": {"status": {"code": "RESOURCE_EXHAUSTED", "message": "too busy"}},
    "an internal status": {"status": {"code": "INTERNAL", "message": "a panic"}},
}

# Words that the client must find in the text, besides the query's frame.
WORDS = {"rows instead of a frame": "vec distributed plan: got data_points proto response under raw wire mode",
         "a failed trace": "data node trace error", "a status": "too busy", "an internal status": "a panic",
         "frame version 0": "version 0", "frame version 9": "version 9", "no message at all": "without an answer (EOF)"}


@pytest.mark.sanitize
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_answer(cluster, name):
    cluster.nodes.fault("d2", group="sw_latency", **BROKEN[name])
    code, text = cluster.client.query_error(WHOLE)
    assert code is not None, f"an answer of {len(text.data_points)} rows"
    assert code in (UNKNOWN, grpc.StatusCode.FAILED_PRECONDITION), (code, text)
    assert MEASURE in text and WORDS.get(name, "d2") in text, text
    others_go_on(cluster)
    cluster.nodes.fault("d2")
    all_is_well(cluster)


@pytest.mark.sanitize
def test_a_wrong_frame_version_names_the_rule(cluster):
    cluster.nodes.control(node={"d3": {"frame_version": 3}})
    try:
        code, text = cluster.client.query_error(WHOLE)
    finally:
        cluster.nodes.control(node={"d3": {"frame_version": 4}})
    assert code == grpc.StatusCode.FAILED_PRECONDITION
    assert "version 3" in text and "cluster" in text and "d3" in text, text


@pytest.mark.sanitize
@pytest.mark.parametrize("seed", range(40))
def test_flipped_bytes(cluster, seed):
    """Any answer or any clear error will do, as long as the program lives and the next query is right.

    The answer is not parsed: damaged strings are passed on as they are.
    """
    cluster.nodes.fault("d1", group="sw_latency", mutate=1 + seed % 7, seed=seed)
    try:
        assert cluster.client.query_bytes(WHOLE)
    except grpc.RpcError as why:
        assert why.code() in (UNKNOWN, grpc.StatusCode.FAILED_PRECONDITION), why
        assert MEASURE in why.details()
    cluster.nodes.fault("d1")
    all_is_well(cluster)


@pytest.mark.sanitize
def test_a_slow_node_delays_only_its_queries(cluster):
    cluster.nodes.fault("d1", group="sw_latency", hold=True)
    slow = cluster.client.method(QUERY).future(WHOLE.SerializeToString(), timeout=30)
    wait_until(lambda: all(stats["requests"] for stats in cluster.nodes.stats().values()), what="the nodes being asked")
    for _ in range(20):
        others_go_on(cluster)
    assert not slow.done()
    cluster.nodes.fault("d1")
    assert len(parse("measure.v1.QueryResponse", slow.result()).data_points) == LATENCY_ROWS


def test_connections_cut_in_flight(cluster):
    ups = cluster.liaison.times_told("data node is up", node="d2")
    cluster.nodes.fault("d2", group="sw_latency", close=True)
    code, text = cluster.client.query_error(WHOLE, timeout=10)
    assert code == UNKNOWN
    assert "rpc error: code = Unavailable desc = " in text, text
    cluster.nodes.fault("d2")
    # Each executor finds out for itself that its connection is gone: "up" may be what is not known to be over.
    wait_until(lambda: cluster.liaison.times_told("data node is up", node="d2") >= ups + cluster.liaison.executors,
               20, "all executors having new connections")
    cluster.liaison.wait_ready(cluster.nodes.names)
    all_is_well(cluster)


def test_a_hung_node_costs_the_broadcast_timeout(start):
    cluster = start(liaison_options=["--dst-broadcast-timeout=4s", "--data-client-health-check-interval=0s"])
    cluster.nodes.fault("d1", group="sw_latency", hang=True)
    code, text = cluster.client.query_error(WHOLE, timeout=14)
    assert code == UNKNOWN
    assert re.search(r"desc = context deadline exceeded: data node d1 \(127.0.0.1:\d+\) did not answer within \d+ ms "
                     r"\(--dst-broadcast-timeout, ", text), text
    others_go_on(cluster)


def test_a_node_that_hangs_as_a_whole_is_found_by_its_health(start):
    cluster = start(liaison_options=["--data-client-health-check-interval=500ms", "--dst-broadcast-timeout=60s"])
    cluster.nodes.control(health={"d2": "HANG"}, fault={"d2": {"hang": True}})
    code, text = cluster.client.query_error(WHOLE, timeout=30)
    assert code == UNKNOWN and "rpc error: code = Unavailable desc = data node d" in text, (code, text)
    cluster.liaison.wait_metric(lambda value: value == 0, "bydb_node_up", node="d2")

    def lacks_it():
        """Not at once where the other one was taken for silent, too: both are one process."""
        response, trailers = cluster.client.query_with_trailers(WHOLE)
        return trailers.get("banyandb-incomplete") == "d2" and 0 < len(response.data_points) < LATENCY_ROWS
    wait_until(lacks_it, 20, "an answer that lacks d2 alone")
    cluster.nodes.control(health={"d2": "SERVING"}, fault={"d2": None})
    cluster.liaison.wait_ready(cluster.nodes.names)
    all_is_well(cluster)


def test_a_node_goes_down_and_comes_back(start):
    cluster = start(["--demo", "--nodes", 3])
    all_is_well(cluster)
    cluster.nodes.control(stop=["d3"])
    cluster.liaison.wait_metric(lambda value: value == 0, "bydb_node_up", node="d3")
    response, trailers = cluster.client.query_with_trailers(WHOLE)
    assert trailers["banyandb-incomplete"] == "d3"
    assert 0 < len(response.data_points) < LATENCY_ROWS
    response, trailers = cluster.client.query_with_trailers(OTHER)
    assert len(response.data_points) == CPM_ROWS, "a copy is on another node"
    assert cluster.liaison.metric("bydb_incomplete_answers_total") >= 1
    cluster.nodes.control(start={"d3": {}})
    cluster.liaison.wait_ready(cluster.nodes.names)
    response, trailers = cluster.client.query_with_trailers(WHOLE)
    assert len(response.data_points) == LATENCY_ROWS
    assert "banyandb-incomplete" not in trailers


def test_incomplete_answers_can_be_refused(start):
    cluster = start(liaison_options=["--incomplete=fail"])
    all_is_well(cluster)
    cluster.nodes.control(stop=["d1"])
    cluster.liaison.wait_metric(lambda value: value == 0, "bydb_node_up", node="d1")
    code, text = cluster.client.query_error(WHOLE)
    assert code == grpc.StatusCode.UNAVAILABLE
    assert "d1" in text


def test_all_nodes_down(start):
    cluster = start()
    cluster.nodes.control(stop=["d1", "d2"])
    for node in ("d1", "d2"):
        cluster.liaison.wait_metric(lambda value: value == 0, "bydb_node_up", node=node)
    code, text = cluster.client.query_error(WHOLE)
    assert (code, text) == (UNKNOWN, execution(MEASURE, "vec distributed plan: broadcast: no active nodes"))
    cluster.nodes.control(start={"d1": {}, "d2": {}})
    cluster.liaison.wait_ready(cluster.nodes.names)
    all_is_well(cluster)


def test_a_node_returns_at_another_port(start):
    cluster = start(liaison_options=["--node-discovery-file-fetch-interval=1s"])
    before = cluster.nodes.address("d2")
    cluster.nodes.control(stop=["d2"], start={"d2": {"port": "new", "schema_port": "new"}})
    assert cluster.nodes.address("d2") != before
    cluster.nodes.control(discovery=["d1", "d2"])
    wait_until(lambda: len(cluster.client.query(WHOLE).data_points) == LATENCY_ROWS, 30, "all rows again", step=0.2)


def test_a_node_that_is_listed_later(start):
    cluster = start(["--demo", "--nodes", 3], ["--node-discovery-file-fetch-interval=1s"],
                    before=lambda nodes: nodes.control(discovery=["d1", "d2"]), ready=["d1", "d2"])
    assert len(cluster.client.query(WHOLE).data_points) < LATENCY_ROWS
    cluster.nodes.control(discovery=["d1", "d2", "d3"])
    wait_until(lambda: len(cluster.client.query(WHOLE).data_points) == LATENCY_ROWS, 20, "the third node", step=0.2)


@pytest.mark.sanitize
def test_many_faults_under_load(cluster):
    """Clients of a group that is well get right answers while another group fails in every way."""
    stop, wrong = threading.Event(), []

    def ask_the_other_group():
        with cluster.liaison.client() as client:
            while not stop.is_set():
                if len(client.query(OTHER, timeout=20).data_points) != CPM_ROWS:
                    wrong.append("rows")
    threads = [threading.Thread(target=ask_the_other_group) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for fault in BROKEN.values():
            cluster.nodes.fault("d1", group="sw_latency", **fault)
            for _ in range(5):
                assert cluster.client.query_error(WHOLE)[0] is not None
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not wrong
