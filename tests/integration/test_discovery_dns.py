# SPDX-License-Identifier: Apache-2.0
"""Nodes found by SRV records."""
import contextlib
import json
import os
import time

import pytest

from asking import LATENCY, LATENCY_ROWS, ask, query
from authority import Authority
from fixtures import require_binary
from liaison import Liaison
from nameserver import NameServer
from nodes import Nodes
from process import wait_until

LOCAL = "127.0.0.1"
WHOLE = query(ask(*LATENCY, limit=10_000))
FIRST, SECOND = "_grpc._tcp.first.test", "_grpc._tcp.second.test"

pytestmark = pytest.mark.sanitize


class Scene:
    def __init__(self, nodes, server, liaison):
        self.nodes, self.server, self.liaison = nodes, server, liaison

    def target(self, name, host=LOCAL):
        return host, int(self.nodes.address(name).rsplit(":", 1)[1])

    def states(self):
        return {node["name"]: node["state"] for node in json.loads(self.liaison.get("/nodes")[1])["nodes"]}

    def told_of_a_certificate(self):
        """The address of a node that is not believed. (A busy one may have been told to say nothing at all before.)"""
        return wait_until(lambda: next(
            (entry["address"] for entry in self.liaison.log_entries()
             if "a listed node does not say who it is" in entry["message"] and "certificate" in entry["error"]), None),
            20, f"a line about a certificate; the log says:\n{self.liaison.log[-3000:]}")

    def until(self, **states):
        wait_until(lambda: self.states() == states, 15, f"{states}")


@pytest.fixture
def scene():
    """Asked every 200 ms. `listed`: {SRV name: {node name: host}}."""
    require_binary()
    with contextlib.ExitStack() as stack:
        def begin(listed, *options, tls=()):
            nodes = Nodes("--demo", "--nodes", "3", *tls)
            stack.callback(nodes.stop)
            server = NameServer()
            stack.callback(server.close)
            scene = Scene(nodes, server, None)
            for name, hosts in listed.items():
                server.records[name] = [scene.target(node, host) for node, host in hosts.items()]
            scene.liaison = Liaison(
                nodes.discovery, "--node-discovery-mode=dns", f"--node-discovery-dns-server={server.address}",
                f"--node-discovery-dns-srv-addresses={FIRST},{SECOND}",
                "--node-discovery-dns-fetch-init-interval=200ms", *options)
            stack.callback(scene.liaison.kill)
            return scene
        yield begin


def test_targets_of_all_names(scene):
    scene = scene({FIRST: {"d1": LOCAL, "d2": LOCAL}, SECOND: {"d2": LOCAL, "d3": "localhost"}})
    scene.liaison.wait_ready(["d1", "d2", "d3"])
    with scene.liaison.client() as client:
        assert len(client.query(WHOLE).data_points) == LATENCY_ROWS
    assert {"listed_as": f"localhost.:{scene.target('d3')[1]}"}.items() <= next(
        entry for entry in scene.liaison.log_entries() if entry.get("node") == "d3" and "listed_as" in entry).items()
    scene.liaison.expect_nothing_alive()
    scene.liaison.stop()


def test_targets_come_and_go(scene):
    scene = scene({FIRST: {"d1": LOCAL}, SECOND: {"d2": LOCAL}})
    scene.liaison.wait_ready(["d1", "d2"])
    scene.server.records[FIRST].append(scene.target("d3"))
    scene.until(d1="up", d2="up", d3="up")
    scene.server.records[SECOND] = [scene.target("d3")]
    scene.until(d1="up", d2="left", d3="up")
    scene.liaison.stop()


def test_a_name_that_fails_keeps_its_last_answer(scene):
    scene = scene({FIRST: {"d1": LOCAL}, SECOND: {"d2": LOCAL}})
    scene.liaison.wait_ready(["d1", "d2"])
    del scene.server.records[SECOND]
    scene.liaison.wait_log("not every name could be asked")
    scene.server.records[FIRST].append(scene.target("d3"))
    scene.until(d1="up", d2="up", d3="up")
    scene.liaison.stop()


def test_no_name_has_ever_been_known(scene):
    scene = scene({})
    scene.liaison.wait_log("SRV records of")
    scene.server.records[SECOND] = [scene.target("d2")]
    scene.liaison.wait_ready(["d2"])
    scene.liaison.stop()


def test_it_is_asked_less_often_later(scene):
    scene = scene({FIRST: {"d1": LOCAL}}, "--node-discovery-dns-fetch-init-duration=1s",
                  "--node-discovery-dns-fetch-interval=1h")
    scene.liaison.wait_ready(["d1"])
    wait_until(lambda: quiet(scene.server), 15, "no questions any more")
    scene.liaison.stop()


def quiet(server):
    before = len(server.asked)
    time.sleep(0.8)
    return len(server.asked) == before


def over_tls(folder, authority, *discovery_cas):
    """Nodes with a certificate of this authority, and what a liaison needs to know of it."""
    certificate, key = folder / "node.pem", folder / "node.key"
    authority.install(certificate, key)
    options = [f"--{channel}-{rest}" for channel in ("data-client", "schema-property-client")
               for rest in ("tls", f"ca-cert={authority.ca}")]
    return {"tls": ["--tls", str(certificate), str(key)]}, [
        "--node-discovery-grpc-timeout=2s", "--node-discovery-dns-tls",
        "--node-discovery-dns-ca-certs=" + ",".join(map(str, discovery_cas)), *options]


def test_tls_to_targets(scene, tmp_path):
    """The certificate is for the name without its last dot, or for the address; a name has a CA of its own."""
    authority, other = Authority(tmp_path, "first"), Authority(tmp_path, "second")
    second = tmp_path / "of-second.pem"
    second.write_bytes(other.ca.read_bytes())
    nodes, options = over_tls(tmp_path, authority, authority.ca, second)
    scene = scene({FIRST: {"d1": "localhost", "d2": LOCAL}, SECOND: {"d3": LOCAL}}, *options, **nodes)
    scene.liaison.wait_ready(["d1", "d2"])
    assert scene.told_of_a_certificate() == "%s:%d" % scene.target("d3")
    fresh = tmp_path / "fresh.pem"
    fresh.write_bytes(authority.ca.read_bytes())
    os.replace(fresh, second)
    scene.liaison.wait_ready(["d1", "d2", "d3"])
    with scene.liaison.client() as client:
        assert len(client.query(WHOLE).data_points) == LATENCY_ROWS
    scene.liaison.expect_nothing_alive()
    scene.liaison.stop()


def test_a_target_that_the_certificate_does_not_name(scene, tmp_path):
    authority = Authority(tmp_path, "first", names="DNS:somewhere.test,IP:127.0.0.1")
    nodes, options = over_tls(tmp_path, authority, authority.ca, authority.ca)
    scene = scene({FIRST: {"d1": LOCAL}, SECOND: {"d2": "localhost"}}, *options, **nodes)
    scene.liaison.wait_ready(["d1"])
    assert scene.told_of_a_certificate().startswith("localhost.")
    scene.liaison.stop()
