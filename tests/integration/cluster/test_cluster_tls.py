# SPDX-License-Identifier: Apache-2.0
"""TLS towards nodes: while asking who they are, to their registry, and for queries."""
import os
import subprocess

import grpc
import pytest
import yaml

from generation import Generation

pytestmark = pytest.mark.sanitize


@pytest.fixture(scope="module")
def pki(tmp_path_factory):
    """A CA, another one, and a certificate of the first for 127.0.0.1."""
    folder = tmp_path_factory.mktemp("pki")

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    for name in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                "-keyout", f"{name}.key", "-out", f"{name}.pem")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=node", "-keyout", "node.key", "-out", "node.csr")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "node.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "2", "-extfile", "names", "-out", "node.pem")
    return folder


@pytest.fixture
def node(pki):
    credentials = grpc.ssl_server_credentials([((pki / "node.key").read_bytes(), (pki / "node.pem").read_bytes())])
    started = Generation("secure", credentials=credentials)
    yield started
    started.stop()


def listed(path, node, **more):
    path.write_text(yaml.safe_dump({"nodes": [{"grpc_address": f"127.0.0.1:{node.port}", **more}]}))
    return path


def flags(ca, *channels):
    return [flag for channel in channels for flag in (f"--{channel}-tls", f"--{channel}-ca-cert={ca}")]


def test_all_three_channels(node, pki, watch, tmp_path):
    path = listed(tmp_path / "nodes.yaml", node, tls_enabled=True, ca_cert_path=str(pki / "ca.pem"))
    watcher = watch(path, *flags(pki / "ca.pem", "data-client", "schema-property-client"))
    watcher.node("d1", "up")
    assert "bytes" in watcher.ask("d1")


def test_a_wrong_ca_is_said_and_a_right_one_is_taken(node, pki, watch, tmp_path):
    ca = tmp_path / "ca.pem"
    ca.write_bytes((pki / "other.pem").read_bytes())
    path = listed(tmp_path / "nodes.yaml", node, tls_enabled=True, ca_cert_path=str(pki / "ca.pem"))
    watcher = watch(path, *flags(pki / "ca.pem", "schema-property-client"), *flags(ca, "data-client"))
    assert "certificate" in watcher.node("d1", "down")["why"]
    (tmp_path / "new.pem").write_bytes((pki / "ca.pem").read_bytes())
    os.replace(tmp_path / "new.pem", ca)
    watcher.node("d1", "up")
    assert "bytes" in watcher.ask("d1")


def test_discovery_with_a_wrong_ca_then_another_listing(node, pki, watch, tmp_path):
    path = listed(tmp_path / "nodes.yaml", node, tls_enabled=True, ca_cert_path=str(pki / "other.pem"))
    watcher = watch(path, "--node-discovery-grpc-timeout=2s",
                    *flags(pki / "ca.pem", "data-client", "schema-property-client"))
    watcher.wait_log("a listed node does not say who it is", accepted=lambda line: "certificate" in line["error"])
    listed(tmp_path / "new.yaml", node, tls_enabled=True, ca_cert_path=str(pki / "ca.pem"))
    os.replace(tmp_path / "new.yaml", path)
    watcher.node("d1", "up")


def test_a_ca_that_is_not_there(node, watch, tmp_path):
    path = listed(tmp_path / "nodes.yaml", node, tls_enabled=True, ca_cert_path="/nowhere/ca.pem")
    watcher = watch(path)
    line, *_ = watcher.wait_log("a listed node does not say who it is")
    assert "/nowhere/ca.pem" in line["error"]


CHANNELS = ["tls_enabled", "schema-property-client", "data-client"]
LINES = {"tls_enabled": "a listed node does not say who it is", "schema-property-client": "schema server is down",
         "data-client": "data node is down"}
SWITCHES = {"tls_enabled": "(tls_enabled in the list of nodes)", "schema-property-client": "(--schema-property-client-tls)",
            "data-client": "(--data-client-tls)"}


def watch_over(watch, path, node, ca, secured):
    """A watcher that speaks TLS over these channels."""
    in_list = {"tls_enabled": True, "ca_cert_path": str(ca)} if "tls_enabled" in secured else {}
    return watch(listed(path, node, **in_list), "--node-discovery-grpc-timeout=2s",
                 *flags(ca, *(channel for channel in secured if channel != "tls_enabled")))


def expect_told(watcher, channel, *words):
    """An error of this channel names its switch and has one of these words. (It need not be the first one: a busy machine
    may have let the node wait before.)"""
    watcher.wait_log(LINES[channel], accepted=lambda line: SWITCHES[channel] in line["error"] and
                     any(word in line["error"] for word in words))


@pytest.mark.parametrize("channel", CHANNELS)
def test_clear_text_to_a_tls_port(node, pki, watch, tmp_path, channel):
    """What a TLS server does with clear text differs; the operator learns in any case which switch it is about."""
    others = [other for other in CHANNELS if other != channel]
    watcher = watch_over(watch, tmp_path / "nodes.yaml", node, pki / "ca.pem", others)
    expect_told(watcher, channel, "turn TLS on here", "does it expect TLS?")


@pytest.mark.parametrize("channel", CHANNELS)
def test_tls_to_a_clear_text_port(pki, watch, tmp_path, channel):
    clear = Generation("clear")
    watcher = watch_over(watch, tmp_path / "nodes.yaml", clear, pki / "ca.pem", [channel])
    expect_told(watcher, channel, "turn TLS on there", "does it speak clear text?")
    clear.stop()
