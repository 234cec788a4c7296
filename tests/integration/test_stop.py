# SPDX-License-Identifier: Apache-2.0
"""The end of the process: running queries are finished, then it leaves with status 0."""
import signal
import time

import grpc
import pytest

from asking import CPM, LATENCY, LATENCY_ROWS, ask, query
from client import QUERY
from process import wait_until
from proto import parse
from slow import Reader

pytestmark = pytest.mark.sanitize

WHOLE = query(ask(*LATENCY, limit=10_000))


def begin_slow(cluster):
    """A query that d1 does not answer before its fault is taken away."""
    cluster.nodes.fault("d1", group="sw_latency", hold=True)
    call = cluster.client.method(QUERY).future(WHOLE.SerializeToString(), timeout=30)
    wait_until(lambda: cluster.nodes.stats()["d1"]["requests"], what="the node being asked")
    return call


@pytest.fixture
def leaving(start):
    """A cluster whose liaison ends within the test."""
    def begin(*liaison_options):
        cluster = start(liaison_options=liaison_options, ends=True)
        return cluster
    return begin


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_running_queries_finish(leaving, number):
    cluster = leaving()
    call = begin_slow(cluster)
    cluster.liaison.process.signal(number)
    cluster.liaison.wait_log("stopping")
    cluster.nodes.fault("d1")
    assert len(parse("measure.v1.QueryResponse", call.result()).data_points) == LATENCY_ROWS
    assert cluster.liaison.process.wait(10) == 0
    with pytest.raises(grpc.RpcError) as refused:
        cluster.client.query(query(ask(*CPM)), timeout=2)
    assert refused.value.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def test_an_idle_liaison_ends_at_once(leaving):
    cluster = leaving("--grace=60s")
    assert cluster.client.query_error(WHOLE)[0] is None
    cluster.liaison.process.signal(signal.SIGTERM)
    assert cluster.liaison.process.wait(10) == 0, "it waited for nothing"


def test_the_grace_is_limited(leaving):
    cluster = leaving("--grace=500ms")
    call = begin_slow(cluster)
    cluster.liaison.process.signal(signal.SIGTERM)
    with pytest.raises(grpc.RpcError) as ended:
        call.result()
    assert ended.value.code() == grpc.StatusCode.UNAVAILABLE
    assert cluster.liaison.process.wait(10) == 0


def test_a_second_signal_ends_it_at_once(leaving):
    cluster = leaving("--grace=60s")
    call = begin_slow(cluster)
    cluster.liaison.process.signal(signal.SIGTERM)
    cluster.liaison.wait_log("stopping")
    time.sleep(0.3)
    assert cluster.liaison.process.running()
    cluster.liaison.process.signal(signal.SIGTERM)
    assert cluster.liaison.process.wait(10) == 0
    assert call.exception() is not None


def test_clients_and_signals_while_it_ends(leaving):
    """The executors are gone before the edge is; clients that leave then, and more signals, change nothing."""
    cluster = leaving("--grace=60s")
    call = begin_slow(cluster)
    readers = [Reader(cluster.liaison.ports["grpc"], WHOLE.SerializeToString()) for _ in range(60)]
    wait_until(lambda: cluster.liaison.metric("bydb_live_queries") > 60, what="the queries running")
    process = cluster.liaison.process
    process.signal(signal.SIGTERM)
    cluster.liaison.wait_log("stopping")
    process.signal(signal.SIGTERM)
    for reader in readers:
        reader.close()
    while process.running():
        process.signal(signal.SIGTERM)
        time.sleep(0.0002)
    assert process.wait(10) == 0, process.log[-3000:]
    assert call.exception() is not None


def test_health_turns_before_the_port_closes(leaving):
    cluster = leaving("--drain-delay=60s")
    cluster.liaison.process.signal(signal.SIGTERM)
    wait_until(lambda: cluster.client.health() == "NOT_SERVING", what="NOT_SERVING")
    assert cluster.liaison.get("/healthz") == (503, "the liaison is shutting down\n")
    assert cluster.client.query_error(query(ask(*CPM)))[0] is None, "the port is still open"
    cluster.liaison.process.signal(signal.SIGTERM)
    assert cluster.liaison.process.wait(10) == 0


def test_the_port_closes_after_the_delay(leaving):
    cluster = leaving("--drain-delay=300ms", "--grace=60s")
    call = begin_slow(cluster)
    cluster.liaison.process.signal(signal.SIGTERM)
    wait_until(lambda: cluster.liaison.client().query_error(query(ask(*CPM)))[0] == grpc.StatusCode.UNAVAILABLE,
               what="the port being closed")
    cluster.nodes.fault("d1")
    assert len(parse("measure.v1.QueryResponse", call.result()).data_points) == LATENCY_ROWS
    assert cluster.liaison.process.wait(10) == 0


def test_no_query_is_lost_under_load(leaving):
    """Calls that were begun are answered; calls refused with UNAVAILABLE may be tried elsewhere."""
    cluster = leaving()
    method = cluster.client.method(QUERY)
    calls = [method.future(WHOLE.SerializeToString(), timeout=30) for _ in range(60)]
    wait_until(lambda: cluster.nodes.stats()["d1"]["requests"], what="the node being asked")
    cluster.liaison.process.signal(signal.SIGTERM)
    outcomes = [call.exception() for call in calls]
    assert all(why is None or why.code() == grpc.StatusCode.UNAVAILABLE for why in outcomes), outcomes
    assert any(why is None for why in outcomes)
    assert cluster.liaison.process.wait(15) == 0
