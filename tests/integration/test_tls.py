# SPDX-License-Identifier: Apache-2.0
"""Clients over TLS, and certificates that are replaced while it serves."""
import os
import pathlib

import grpc
import pytest
import yaml

from asking import CPM, CPM_ROWS, ask, query
from authority import Authority, channel_to
from client import QUERY
from process import wait_until
from proto import parse

pytestmark = pytest.mark.sanitize


def rows(channel):
    request = query(ask(*CPM, limit=10_000)).SerializeToString()
    answer = channel.unary_unary(QUERY)(request, timeout=20, wait_for_ready=False)
    return len(parse("measure.v1.QueryResponse", answer).data_points)


def can_ask(address, authority):
    with channel_to(address, authority) as channel:
        try:
            return rows(channel) == CPM_ROWS
        except grpc.RpcError as why:
            assert why.code() == grpc.StatusCode.UNAVAILABLE
            return False


def test_a_replaced_certificate_is_shown_to_new_connections(start, tmp_path):
    first, second = Authority(tmp_path, "first"), Authority(tmp_path, "second")
    certificate, key = tmp_path / "server.pem", tmp_path / "server.key"
    first.install(certificate, key)
    cluster = start(liaison_options=["--tls", f"--cert-file={certificate}", f"--key-file={key}"])
    address = cluster.liaison.address
    with channel_to(address, first) as old:
        assert rows(old) == CPM_ROWS
        assert not can_ask(address, second)
        second.install(certificate, key)
        wait_until(lambda: can_ask(address, second), 10, "the second certificate")
        assert not can_ask(address, first)
        assert rows(old) == CPM_ROWS    # its connection goes on
        certificate.write_text("nonsense")
        wait_until(lambda: "Failed to reload TLS certificate" in cluster.liaison.log, 10, "a line in the log")
        assert can_ask(address, second)


def told_of_a_mismatch(liaison):
    return [entry for entry in liaison.log_entries() if "speaks the one that is not served" in entry["message"]]


def test_a_client_in_clear_text_is_told_in_the_log(start, tmp_path):
    """Once, however often it tries."""
    authority = Authority(tmp_path, "first")
    certificate, key = tmp_path / "server.pem", tmp_path / "server.key"
    authority.install(certificate, key)
    cluster = start(liaison_options=["--tls", f"--cert-file={certificate}", f"--key-file={key}"])
    for _ in range(3):
        with pytest.raises(grpc.RpcError):
            cluster.client.call(QUERY, b"", timeout=5)
    wait_until(lambda: told_of_a_mismatch(cluster.liaison), 10, "a line in the log")
    entry, = told_of_a_mismatch(cluster.liaison)
    assert "the peer speaks clear text" in entry["error"] and entry["client"].startswith("127.0.0.1:")


def test_a_client_over_tls_is_told_in_the_log(start, tmp_path):
    cluster = start()
    assert not can_ask(cluster.liaison.address, Authority(tmp_path, "first"))
    wait_until(lambda: told_of_a_mismatch(cluster.liaison), 10, "a line in the log")
    assert "the peer speaks TLS, clear text was expected" in told_of_a_mismatch(cluster.liaison)[0]["error"]


def test_a_replaced_ca_counts_for_new_connections_to_nodes(start, tmp_path):
    """Queries that run, and connections that stand, go on; a node that comes back shows the new certificate."""
    first, second = Authority(tmp_path, "first"), Authority(tmp_path, "second")
    certificate, key, ca = tmp_path / "node.pem", tmp_path / "node.key", tmp_path / "ca.pem"

    def install(authority):
        authority.install(certificate, key)
        fresh = tmp_path / "fresh-ca.pem"
        fresh.write_bytes(authority.ca.read_bytes())
        os.replace(fresh, ca)
    install(first)

    def list_over_tls(nodes):
        listed = yaml.safe_load(pathlib.Path(nodes.discovery).read_text())
        for node in listed["nodes"]:
            node.update(tls_enabled=True, ca_cert_path=str(ca))
        pathlib.Path(nodes.discovery).write_text(yaml.safe_dump(listed))
    cluster = start(["--demo", "--nodes", 3, "--tls", certificate, key],
                    ["--data-client-tls", f"--data-client-ca-cert={ca}", "--schema-property-client-tls",
                     f"--schema-property-client-ca-cert={ca}"], before=list_over_tls)
    request = query(ask(*CPM, limit=10_000))
    cluster.nodes.fault("d1", hold=True)
    running = cluster.client.method(QUERY).future(request.SerializeToString(), timeout=20)
    wait_until(lambda: cluster.liaison.metric("bydb_live_queries") == 1, 10, "the query being on its way")
    install(second)
    cluster.nodes.fault("d1")
    assert len(parse("measure.v1.QueryResponse", running.result()).data_points) == CPM_ROWS
    links = cluster.liaison.metric("bydb_live_links")
    assert len(cluster.client.query(request).data_points) == CPM_ROWS
    assert cluster.liaison.metric("bydb_live_links") == links
    for name in cluster.nodes.names:
        cluster.nodes.control(stop=[name])
        cluster.liaison.wait_metric(lambda value: value == 0, "bydb_node_up", node=name)
        cluster.nodes.control(start={name: {}})
        cluster.liaison.wait_ready(cluster.nodes.names)
    assert len(cluster.client.query(request).data_points) == CPM_ROWS
