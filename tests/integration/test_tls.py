# SPDX-License-Identifier: Apache-2.0
"""Clients over TLS, and certificates that are replaced while it serves."""
import os
import subprocess

import grpc
import pytest

from asking import CPM, CPM_ROWS, ask, query
from client import NO_LIMIT, QUERY
from process import wait_until
from proto import parse

pytestmark = pytest.mark.sanitize


class Authority:
    """A CA of its own and a certificate of it for localhost."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                      "-keyout", f"{name}-ca.key", "-out", f"{name}-ca.pem")
        self._openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}-server",
                      "-keyout", f"{name}.key", "-out", f"{name}.csr")
        (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        self._openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{name}-ca.pem", "-CAkey", f"{name}-ca.key",
                      "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", f"{name}.pem")
        self.credentials = grpc.ssl_channel_credentials((folder / f"{name}-ca.pem").read_bytes())

    def _openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)

    def install(self, certificate, key):
        """By rename, as orchestrators do."""
        for suffix, target in ((".key", key), (".pem", certificate)):
            fresh = self.folder / f"fresh{suffix}"
            fresh.write_bytes((self.folder / f"{self.name}{suffix}").read_bytes())
            os.replace(fresh, target)


def rows(channel):
    request = query(ask(*CPM, limit=10_000)).SerializeToString()
    answer = channel.unary_unary(QUERY)(request, timeout=20, wait_for_ready=False)
    return len(parse("measure.v1.QueryResponse", answer).data_points)


def channel_to(address, authority):
    port = address.rsplit(":", 1)[1]
    return grpc.secure_channel(f"127.0.0.1:{port}", authority.credentials,
                               NO_LIMIT + [("grpc.use_local_subchannel_pool", 1)])


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
