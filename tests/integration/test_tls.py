# SPDX-License-Identifier: Apache-2.0
"""Clients over TLS, and certificates that are replaced while it serves."""
import grpc
import pytest

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
