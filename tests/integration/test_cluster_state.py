# SPDX-License-Identifier: Apache-2.0
"""What the liaison says of its cluster: /nodes, GetClusterState, GetCurrentNode, GetAPIVersion."""
import json
import signal
import threading

import pytest

from asking import CPM, LATENCY, ask, query
from client import QUERY
from process import wait_until
from proto import parse

pytestmark = pytest.mark.sanitize

STATE = "/banyandb.database.v1.ClusterStateService/GetClusterState"
NODE = "/banyandb.database.v1.NodeQueryService/GetCurrentNode"
VERSION = "/banyandb.common.v1.Service/GetAPIVersion"


def nodes_page(liaison):
    status, text = liaison.get("/nodes")
    assert status == 200, text
    return {node["name"]: node for node in json.loads(text)["nodes"]}


def data_nodes(client):
    return parse("database.v1.GetClusterStateResponse", client.call(STATE, b"")).route_tables["tire2"]


def test_the_nodes_page(cluster):
    assert len(cluster.client.query(query(ask(*CPM, limit=1000))).data_points) == 360
    page = nodes_page(cluster.liaison)
    assert sorted(page) == ["d1", "d2", "d3"]
    for name, node in page.items():
        assert node["state"] == "up" and node["executors"] == node["executors_up"] == 2, node
        assert node["address"] == cluster.nodes.address(name)
        assert node["breaker"] == "closed" and node["calls"] == 0 and node["frame_version"] == 4, node
        assert node["since"].endswith("Z") and node["created_at"].endswith("Z") and "labels" in node, node


def test_a_moment_before_1970_has_its_fraction(start):
    page = nodes_page(start(["--empty", "--created-at", "1965-06-07T08:09:10.5Z"]).liaison)
    assert {node["created_at"] for node in page.values()} == {"1965-06-07T08:09:10.500Z"}, page


def test_calls_in_flight(cluster):
    cluster.nodes.fault("d1", group="sw_latency", hold=True)
    call = cluster.client.method(QUERY).future(query(ask(*LATENCY)).SerializeToString(), timeout=20)
    wait_until(lambda: nodes_page(cluster.liaison)["d1"]["calls"] == 1, what="a call in flight")
    cluster.nodes.fault("d1")
    assert call.result()
    wait_until(lambda: nodes_page(cluster.liaison)["d1"]["calls"] == 0, what="no call in flight")


def test_the_cluster_state(cluster):
    tables = parse("database.v1.GetClusterStateResponse", cluster.client.call(STATE, b"")).route_tables
    assert sorted(tables) == ["tire1", "tire2"] and not tables["tire1"].registered
    state = tables["tire2"]
    assert [node.metadata.name for node in state.registered] == ["d1", "d2", "d3"]
    assert list(state.active) == ["d1", "d2", "d3"] and not state.evictable
    for node in state.registered:
        assert node.grpc_address == cluster.nodes.address(node.metadata.name)
        assert node.property_schema_grpc_address and list(node.roles)


def test_a_node_that_is_down(start):
    cluster = start()
    cluster.nodes.control(stop=["d2"])
    cluster.liaison.wait_metric(lambda value: value == 0, "bydb_node_up", node="d2")
    node = nodes_page(cluster.liaison)["d2"]
    assert node["state"] in ("down", "probing") and node["last_error"] and node["executors_up"] == 0, node
    state = data_nodes(cluster.client)
    assert list(state.active) == ["d1"] and list(state.evictable) == ["d2"] and len(state.registered) == 2
    cluster.nodes.control(start={"d2": {}})
    cluster.liaison.wait_ready(cluster.nodes.names)
    node = nodes_page(cluster.liaison)["d2"]
    assert node["state"] == "up" and node["last_error"], "the last error is told when it is over, too"
    assert list(data_nodes(cluster.client).active) == ["d1", "d2"]


def test_nodes_that_left_or_never_came(start):
    cluster = start(["--demo", "--nodes", 3])
    cluster.nodes.list_also("127.0.0.1:1")
    wait_until(lambda: nodes_page(cluster.liaison).get("127.0.0.1:1", {}).get("state") == "unreached", 10, "the ghost")
    cluster.nodes.control(discovery=["d1", "d3"])
    wait_until(lambda: nodes_page(cluster.liaison)["d2"]["state"] == "left", 10, "d2 having left")
    assert "127.0.0.1:1" not in nodes_page(cluster.liaison)
    assert list(data_nodes(cluster.client).active) == ["d1", "d3"]
    assert len(data_nodes(cluster.client).registered) == 2


def test_who_we_are(start):
    cluster = start(liaison_options=["--node-labels=type=hot,rack=7", "--node-host-provider=flag",
                                     "--node-host=liaison-1.example"])
    node = parse("database.v1.GetCurrentNodeResponse", cluster.client.call(NODE, b"")).node
    assert node.metadata.name == "liaison-1.example:18912"
    assert node.grpc_address == f"liaison-1.example:{cluster.liaison.ports['grpc']}"
    assert dict(node.labels) == {"type": "hot", "rack": "7"}
    assert not node.roles, "no liaison may take it for one that writes go to"
    assert node.created_at.seconds > 1_700_000_000


def test_the_api_version(cluster):
    assert parse("common.v1.GetAPIVersionResponse", cluster.client.call(VERSION, b"")).version.version == "0.10"


@pytest.mark.seconds(60)
def test_asked_while_it_ends(start):
    """A second signal ends it in the midst of everything; what was asked has an end, and so has the process."""
    cluster = start(liaison_options=["--max-concurrent-queries=1", "--max-queue-duration=20s"], ends=True)
    cluster.nodes.fault("d1", group="sw_latency", delay_ms=10_000)
    stop = threading.Event()

    def look():
        while not stop.is_set():
            try:
                cluster.liaison.get("/nodes", timeout=2)
            except OSError:
                return
    looker = threading.Thread(target=look)
    looker.start()
    calls = [cluster.client.method(path).future(data, timeout=30) for _ in range(40)
             for path, data in ((QUERY, query(ask(*LATENCY)).SerializeToString()), (STATE, b""))]
    wait_until(lambda: cluster.nodes.stats()["d1"]["requests"], what="the node being asked")
    cluster.liaison.process.signal(signal.SIGTERM)
    cluster.liaison.process.signal(signal.SIGINT)
    calls += [cluster.client.method(STATE).future(b"", timeout=30) for _ in range(20)]
    assert cluster.liaison.process.wait(10) == 0, cluster.liaison.log[-3000:]
    stop.set()
    looker.join()
    for call in calls:
        call.exception()
