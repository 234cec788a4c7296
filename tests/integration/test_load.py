# SPDX-License-Identifier: Apache-2.0
"""Much at once, and much in one answer."""
import concurrent.futures
import time

import grpc
import pytest

from asking import APDEX, CPM, DESC, ENDPOINTS, EQ, INSTANCE, LATENCY, SERVICES, ask, by, query, where
from client import QUERY
from process import wait_until
from proto import message
from turns import turns_text

CLIENTS, QUERIES = 16, 50
MIXED = [ask(*CPM, limit=1000), ask(*LATENCY, limit=1000, orderBy=by(sort=DESC)), ask(*APDEX), ask(*ENDPOINTS),
         ask(*INSTANCE, orderBy=by("version", DESC), limit=50), ask(*SERVICES), ask(*CPM, orderBy=by("layer")),
         ask(*CPM, criteria=where("layer", EQ, 4)), ask(*CPM, offset=350, limit=50), ask("sw_metric", "nothing", ["a.b"])]


def outcome(client, request):
    try:
        return client.query_bytes(request, timeout=60)
    except grpc.RpcError as why:
        return why.code(), why.details()


@pytest.mark.sanitize
@pytest.mark.seconds(300)
def test_many_clients(cluster):
    requests = [query(document) for document in MIXED]
    wanted = [outcome(cluster.client, request) for request in requests]

    def work(number):
        with cluster.liaison.client() as client:
            return [(at, outcome(client, requests[at])) for at in
                    ((number + step) % len(requests) for step in range(QUERIES))]
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        done = list(pool.map(work, range(CLIENTS)))
    assert sum(map(len, done)) == CLIENTS * QUERIES
    wrong = [at for answers in done for at, answer in answers if answer != wanted[at]]
    assert not wrong, f"{len(wrong)} answers differ, of requests {sorted(set(wrong))}"


def wide(limit):
    return query(ask("sw_latency", "endpoint_latency_minute", ["default.tag0", "default.tag1", "default.tag2"],
                     ["value"], limit=limit))


@pytest.mark.seconds(300)
def test_a_large_result(start):
    cluster = start(["--demo", "--nodes", 3])
    cluster.nodes.control(synthetic={"*": {"name": "w9"}})
    began = time.monotonic()
    data = cluster.client.query_bytes(wide(300_000), timeout=120)
    print(f"{len(data) >> 20} MiB in {time.monotonic() - began:.1f} s")
    response = message("measure.v1.QueryResponse")
    response.ParseFromString(data)
    assert len(response.data_points) == 300_000
    times = [point.timestamp.seconds for point in response.data_points]
    assert times == sorted(times)
    assert len({(point.sid, point.timestamp.seconds) for point in response.data_points}) == 300_000
    tail = cluster.client.query(query({**ask("sw_latency", "endpoint_latency_minute", ["default.tag0"], ["value"]),
                                       "limit": 5, "offset": 299_998}), timeout=120)
    assert [point.sid for point in tail.data_points] == [point.sid for point in response.data_points[-2:]]


@pytest.mark.seconds(300)
def test_a_result_over_the_budget(start):
    cluster = start(["--demo", "--nodes", 3], ["--measure-vectorized-query-memory-mib=8"])
    cluster.nodes.control(synthetic={"d1": {"name": "w9"}, "d2": {"name": "w9"}})
    for _ in range(3):
        code, text = cluster.client.query_error(wide(300_000), timeout=60)
        assert code == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert str(8 << 20) in text and "limit" in text, text
    cluster.liaison.expect_nothing_alive()
    cluster.nodes.control(synthetic={"*": None})
    assert len(cluster.client.query(query(ask(*CPM, limit=1000))).data_points) == 360


@pytest.mark.seconds(300)
def test_a_long_merge_does_not_stop_others(start):
    """It is done in turns, of which none is a large part of the work. (In the thread's own time: on a busy machine all
    takes longer.)"""
    cluster = start(["--demo", "--nodes", 2], executors=1)
    cluster.nodes.control(synthetic={"d1": {"name": "w9"}, "d2": {"name": "w9"}})
    large = cluster.client.method(QUERY).future(wide(200_000).SerializeToString(), timeout=120)
    with cluster.liaison.client() as client:
        while not large.done():
            assert client.health(timeout=30) == "SERVING"
    assert large.result()
    print(turns_text(cluster.liaison))
    longest, all_turns = (cluster.liaison.metric(f"bydb_turn_{name}") for name in ("max_seconds", "seconds_sum"))
    assert longest < all_turns / 4, f"one turn took {longest:.3f} s of {all_turns:.3f} s: others had to wait"


def test_a_limit_on_running_queries(start):
    cluster = start(liaison_options=["--max-concurrent-queries=2", "--max-queue-duration=300ms"])
    cluster.nodes.fault("d1", group="sw_latency", hold=True)
    method = cluster.client.method(QUERY)
    slow = query(ask(*LATENCY)).SerializeToString()
    running = [method.future(slow, timeout=20) for _ in range(2)]
    wait_until(lambda: len(cluster.nodes.stats()["d1"]["requests"]) == 2, what="two running queries")
    code, text = cluster.client.query_error(query(ask(*CPM)))
    assert code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert text
    cluster.nodes.fault("d1")
    assert all(call.result() for call in running)
    assert cluster.client.query_error(query(ask(*CPM)))[0] is None
    assert cluster.liaison.metric("bydb_refused_queries_total") == 1


def test_two_liaisons(start):
    from liaison import Liaison
    cluster = start(["--demo", "--nodes", 3])
    second = Liaison(cluster.nodes.discovery)
    try:
        second.wait_ready(cluster.nodes.names)
        with second.client() as client:
            for document in MIXED:
                assert outcome(client, query(document)) == outcome(cluster.client, query(document))
        second.expect_nothing_alive()
    finally:
        second.stop()
    assert cluster.client.query_error(query(ask(*CPM)))[0] is None


@pytest.mark.seconds(200)
def test_two_liaisons_on_one_port(start):
    """A second generation takes over a shared port; no query is lost while the first one leaves."""
    from liaison import Liaison
    cluster = start(["--demo", "--nodes", 2], ["--reuse-port"])
    port = cluster.liaison.ports["grpc"]
    second = Liaison(cluster.nodes.discovery, f"--grpc-port={port}", "--reuse-port")
    try:
        second.wait_ready(cluster.nodes.names)
        assert second.ports["grpc"] == port
        with second.client() as client:
            assert client.query_error(query(ask(*CPM)))[0] is None
    finally:
        second.stop()


def test_a_taken_port(start):
    from liaison import Liaison
    cluster = start()
    second = Liaison(cluster.nodes.discovery, f"--grpc-port={cluster.liaison.ports['grpc']}")
    try:
        assert second.process.wait(20) != 0
        assert str(cluster.liaison.ports["grpc"]) in second.log
    finally:
        second.kill()


def test_a_client_that_reads_slowly_holds_only_its_own(start):
    cluster = start(["--demo", "--nodes", 2], ["--client-stall-timeout=3s"])
    cluster.nodes.control(synthetic={"d1": {"name": "w9"}, "d2": {"name": "w9"}})
    stalled = stall(cluster)
    try:
        cluster.nodes.control(synthetic={"*": None})
        for _ in range(20):
            assert len(cluster.client.query(query(ask(*CPM, limit=500))).data_points) == 360
        cluster.liaison.wait_metric(lambda value: value == 0, "bydb_live_exchanges", 20)
    finally:
        stalled.close()


def stall(cluster):
    """An HTTP/2 client that asks for much and never opens its window."""
    import h2.connection
    import socket
    connection = h2.connection.H2Connection()
    connection.initiate_connection()
    channel = socket.create_connection(("127.0.0.1", cluster.liaison.ports["grpc"]))
    request = wide(200_000).SerializeToString()
    connection.send_headers(1, [(":method", "POST"), (":scheme", "http"), (":path", QUERY), (":authority", "x"),
                                ("te", "trailers"), ("content-type", "application/grpc")])
    connection.send_data(1, b"\x00" + len(request).to_bytes(4, "big") + request, end_stream=True)
    channel.sendall(connection.data_to_send())
    wait_until(lambda: all(stats["requests"] for stats in cluster.nodes.stats().values()), 20, "the nodes being asked")
    time.sleep(1)
    return channel
