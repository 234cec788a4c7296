# SPDX-License-Identifier: Apache-2.0
"""A client's patience: its deadline and its cancellation reach the nodes at once."""
import grpc
import pytest

from asking import LATENCY, ask, query
from client import QUERY
from process import wait_until
from slow import Reader

pytestmark = pytest.mark.sanitize

WHOLE = query(ask(*LATENCY, limit=10_000))


def requests_of(cluster, node):
    return cluster.nodes.stats()[node]["requests"]


def begin(cluster, timeout=30):
    """A running call; the nodes have been asked when it returns."""
    call = cluster.client.method(QUERY).future(WHOLE.SerializeToString(), timeout=timeout)
    wait_until(lambda: all(requests_of(cluster, node) for node in cluster.nodes.names), what="the nodes being asked")
    return call


def test_the_deadline_reaches_the_nodes(cluster):
    cluster.client.query(WHOLE, timeout=12)
    left = requests_of(cluster, "d1")[0]["time_remaining"]
    assert 5 < left <= 12.1


def test_without_a_deadline_the_broadcast_timeout_counts(cluster):
    cluster.client.query(WHOLE, timeout=None)
    left = requests_of(cluster, "d1")[0]["time_remaining"]
    assert 10 < left <= 15.1


def test_a_longer_deadline_does_not_lengthen_the_broadcast(cluster):
    cluster.client.query(WHOLE, timeout=100)
    assert requests_of(cluster, "d1")[0]["time_remaining"] <= 15.1


def test_the_deadline_passes(cluster):
    cluster.nodes.fault("d1", group="sw_latency", hang=True)
    call = begin(cluster, timeout=4)
    assert call.exception().code() == grpc.StatusCode.DEADLINE_EXCEEDED
    wait_until(lambda: cluster.nodes.stats()["d1"]["cancelled_unanswered"] == 1, 8,
               "the node's call ending before the broadcast's 15 s")


def test_whoever_sees_it_first(start):
    """The calls to the nodes and the client's call have the same deadline: the code is the same, too."""
    cluster = start()
    cluster.nodes.fault("d1", group="sw_latency", hang=True)
    readers = [Reader(cluster.liaison.ports["grpc"], WHOLE.SerializeToString(), timeout="300m") for _ in range(60)]

    def ended():
        for reader in readers:
            reader.read()
        return all(reader.ended for reader in readers)
    wait_until(ended, what="all calls ending")
    others = [reader.text for reader in readers if reader.status != grpc.StatusCode.DEADLINE_EXCEEDED.value[0]]
    assert not others
    for reader in readers:
        reader.close()


def test_a_deadline_that_has_passed_already(cluster):
    code, _ = cluster.client.query_error(WHOLE, timeout=0.000001)
    assert code == grpc.StatusCode.DEADLINE_EXCEEDED


def test_cancellation_reaches_the_nodes(cluster):
    cluster.nodes.fault("*", group="sw_latency", hang=True)
    call = begin(cluster)
    call.cancel()
    wait_until(lambda: all(stats["cancelled_unanswered"] >= 1 for stats in cluster.nodes.stats().values()),
               what="all nodes' calls ending")
    cluster.liaison.expect_nothing_alive()


def test_a_client_that_breaks_off_its_connection(cluster):
    cluster.nodes.fault("d2", group="sw_latency", hang=True)
    client = cluster.liaison.client()
    call = client.method(QUERY).future(WHOLE.SerializeToString(), timeout=30)
    wait_until(lambda: requests_of(cluster, "d2"), what="the node being asked")
    client.close()
    assert call.cancelled() or call.exception() is not None
    wait_until(lambda: cluster.nodes.stats()["d2"]["cancelled_unanswered"] == 1, what="the node's call ending")


def test_one_failed_node_ends_the_waiting_for_the_others(cluster):
    """A query that has failed for good need not wait for the nodes that are still busy."""
    cluster.nodes.control(fault={"d1": {"group": "sw_latency", "error": "broken"},
                                 "d2": {"group": "sw_latency", "delay_ms": 800}})
    code, text = cluster.client.query_error(WHOLE)
    assert code == grpc.StatusCode.UNKNOWN
    assert "broken" in text
